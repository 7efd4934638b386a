"""Which stored scores are stale: asked or scored otherwise than the workspace would today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.errors import PoorBenchError
from poor_bench.models.result import Result
from poor_bench.plugins.sources import hash_code
from poor_bench.prompts import build_messages
from poor_bench.results.columns import encode_fingerprint
from poor_bench.results.figures import StaleCounter
from poor_bench.results.kept_figures import KeptFile
from poor_bench.results.row_marks import RowMarks, pack_marks, unpack_marks
from poor_bench.runner import trial_states
from poor_bench.runner.scorer import WorkspaceFingerprints
from poor_bench.runner.trial_states import Fingerprints, TrialState, TrialStates, find_scored_state
from poor_bench.statistics.summary import Group, StaleCounts, StaleReason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.llm import LLM
    from poor_bench.models.test import Test
    from poor_bench.results.table import ResultTable
    from poor_bench.workspace_folder import WorkspaceFolder

TrialKey = tuple[str, str, int]
"""LLM id, test id and number of a trial."""


class StaleRows(NamedTuple):
    """Stale scores of a table; of ten million results, a number for each score fills memory."""

    rows: NDArray[np.int64]
    """Their rows."""
    counts: StaleCounts
    """By LLM, class and level, also where scores are known and none is stale."""


class StaleCheck:
    """Compares the fingerprints of stored scores with those of the workspace.

    Scores of removed models and tests, and of older tools that stored no fingerprints, are not
    stale: nothing is known of them.
    """

    def __init__(self, config: WorkspaceFolder) -> None:
        """Read the workspace.

        Raises:
            ConfigError: With every problem of every file.
        """
        workspace = config.workspace
        self._fingerprints = WorkspaceFingerprints(workspace, config.evaluators)
        self._classes = workspace.test_classes
        self._llms, self._tests = workspace.llms_by_id, workspace.tests_by_id

    def find_reason(self, result: Result) -> StaleReason | None:
        """Find what changed since a score was stored; None if nothing did, or it is not known."""
        return None if result.score is None else self.find_difference(result)

    def find_difference(self, result: Result) -> StaleReason | None:
        """The same for a result of another machine, which may have failed to run."""
        llm, test = self._llms.get(result.llm_id), self._tests.get(result.test_id)
        if llm is None or test is None:
            return None
        asked, scored = result.request_fingerprint, result.evaluator_fingerprint
        try:
            state = find_scored_state(asked, scored, llm, test, self._fingerprints)
        except PoorBenchError:  # such as a judge that is gone: a run will tell
            return None
        if state is TrialState.STALE_REQUEST:
            return self._compare_prompt(llm, test, result.prompt, result.system_prompt)
        return StaleReason.EVALUATOR if state is TrialState.STALE_SCORE else None

    def find(self, results: Iterable[Result]) -> Mapping[TrialKey, StaleReason]:
        """Find the trials whose scores are stale, and what changed since."""
        found = ((result.key, self.find_reason(result)) for result in results)
        return {key: reason for key, reason in found if reason is not None}

    def count(self, table: ResultTable, llm_ids: Collection[str] | None = None) -> StaleCounts:
        """Count the stale scores of some models, or of all, on each class and level.

        Args:
            table: Results of tests of the workspace.
            llm_ids: The models; of removed ones nothing is known.

        Raises:
            StoreError: If the index is damaged.
        """
        return self.find_rows(table, llm_ids).counts

    def find_rows(self, table: ResultTable, llm_ids: Collection[str] | None = None) -> StaleRows:
        """Find the stale scores among the scored rows that store fingerprints.

        Args:
            table: Results of tests of the workspace.
            llm_ids: The models, or None for all; of removed ones nothing is known.

        Raises:
            StoreError: If the index is damaged.
        """
        facts = [_name_places(table) if table.basis else "", llm_ids and sorted(llm_ids)]
        file = _open_kept("stale", table, self._fingerprints, facts)
        known = file.read()
        if known is not None:
            return _restore_stale_rows(known, len(table))
        found = self._look_for_rows(table, llm_ids)
        file.write(_dump_stale_rows(found, len(table)))
        return found

    def _look_for_rows(self, table: ResultTable, llm_ids: Collection[str] | None) -> StaleRows:
        import numpy as np

        def is_asked_for(llm_id: str) -> bool:
            return llm_id in self._llms and (llm_ids is None or llm_id in llm_ids)

        finder = StateFinder(
            table, self._llms, self._tests, self._fingerprints, self._fingerprint_evaluator
        )
        rows, counter = [np.zeros(0, np.int64)], StaleCounter(table, self._tests)
        for start, block in table.split():
            is_meant = block.is_scored & block.find_entries("llm_id", is_asked_for)
            is_meant &= (block.columns["request_code"] | block.columns["evaluator_code"]) != 0
            known = is_meant.nonzero()[0]
            reasons = self._find_reasons(block, known, finder.find(block, known))
            counter.add(block, known, reasons)
            rows.append(known[reasons > 0] + start)
            block.release()
        finder.keep()
        return StaleRows(np.concatenate(rows), counter.counts())

    def _find_reasons(
        self, table: ResultTable, rows: NDArray[np.int64], states: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Find the place of each row's reason in `StaleReason`, from 1; 0 where it is not stale."""
        import numpy as np

        places = {reason: place for place, reason in enumerate(StaleReason, start=1)}
        reasons = np.zeros(len(rows), dtype=np.uint8)
        reasons[states == TrialState.STALE_SCORE] = places[StaleReason.EVALUATOR]
        asked = np.flatnonzero(states == TrialState.STALE_REQUEST)
        prompts = table.text_columns(rows[asked], ["prompt", "system_prompt"])
        for place, (prompt, system_prompt) in zip(asked.tolist(), prompts, strict=True):
            row = int(rows[place])
            llm, test = (table.value(name, row) for name in ("llm_id", "test_id"))
            reasons[place] = places[
                self._compare_prompt(
                    self._llms[llm], self._tests[test], prompt or "", system_prompt or ""
                )
            ]
        return reasons

    def _compare_prompt(self, llm: LLM, test: Test, prompt: str, system_prompt: str) -> StaleReason:
        """Say if it was the prompt that changed, or model and parameters."""
        if not prompt:
            return StaleReason.REQUEST
        messages = build_messages(llm, self._classes[test.class_id], test)
        now = {message.role: message.content for message in messages}
        is_same = prompt == now["user"] and system_prompt == now.get("system", "")
        return StaleReason.MODEL if is_same else StaleReason.PROMPT

    def _fingerprint_evaluator(self, test: Test) -> str | None:
        try:
            return self._fingerprints.of_evaluator(test)
        except PoorBenchError:  # such as a judge that is gone: a run will tell
            return None


def _name_places(table: ResultTable) -> str:
    """Name the rows of a table; of very many, a block at a time takes memory."""
    digest = sha256()
    for _, block in table.split():
        digest.update(block.columns["place"].tobytes())
        block.release()
    return digest.hexdigest()


def _dump_stale_rows(found: StaleRows, n_rows: int) -> dict[str, Any]:
    """Write them for JSON: a bit for each row of the table."""
    import numpy as np

    is_stale = np.zeros(n_rows, np.bool_)
    is_stale[found.rows] = True
    counts = [
        [group.llm_id, group.class_id, group.level, reasons]
        for group, reasons in found.counts.items()
    ]
    return {"rows": pack_marks(is_stale), "counts": counts}


def _restore_stale_rows(dumped: Mapping[str, Any], n_rows: int) -> StaleRows:
    counts = {
        Group(llm_id=llm_id, class_id=class_id, level=level): Counter(
            {StaleReason(reason): n_stale for reason, n_stale in reasons.items()}
        )
        for llm_id, class_id, level, reasons in dumped["counts"]
    }
    return StaleRows(unpack_marks(dumped["rows"])[:n_rows].nonzero()[0], counts)


class StateFinder:
    """Finds the states that stored scores give their trials, as `find_scored_state`.

    It takes the rows of a table block by block: of very many, what is worked out on the way would
    take more memory than the table.
    """

    def __init__(
        self,
        table: ResultTable,
        llms: Mapping[str, LLM],
        tests: Mapping[str, Test],
        fingerprints: Fingerprints,
        fingerprint_evaluator: Callable[[Test], str | None],
    ) -> None:
        """Read what is known of rows of a table.

        Args:
            table: Of all blocks.
            llms: By id; all that have scored rows with fingerprints.
            tests: By id; all that have such rows.
            fingerprints: Of today's requests.
            fingerprint_evaluator: Gives today's fingerprint; None where it is not known.
        """
        import numpy as np

        self._llms, self._tests = llms, tests
        self._fingerprints, self._fingerprint_evaluator = fingerprints, fingerprint_evaluator
        n_tests = len(table.values["test_id"])
        self._evaluators = np.zeros(n_tests, dtype=np.uint64)
        self._is_asked_for = np.zeros(n_tests, dtype=np.bool_)
        # What was found of a row is kept: hashing a million requests takes longer than all else.
        about = fingerprints.identify_requests() if table.basis else ""
        self._marks = RowMarks(table.basis if about else None, "requests", about)
        about = fingerprints.identify_evaluators() if table.basis else ""
        basis = table.basis if about else None
        self._file: KeptFile[dict[str, str]] = KeptFile(basis, "evaluators", about)
        self._kept = self._file.read() or {}
        self._n_kept = len(self._kept)

    def find(self, table: ResultTable, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Find the state of some scored rows of a block."""
        import numpy as np

        states = np.full(len(rows), TrialState.DONE, dtype=np.uint8)
        test_codes, scored = table.columns["test_id"][rows], table.columns["evaluator_code"][rows]
        current = self._find_evaluators(table, test_codes, scored != 0)
        states[(scored != current) & (scored != 0) & (current != 0)] = TrialState.STALE_SCORE
        asked = np.flatnonzero(table.columns["request_code"][rows] != 0)
        is_other = self._find_changed_requests(table, rows[asked])
        states[asked[is_other]] = TrialState.STALE_REQUEST
        return states

    def keep(self) -> None:
        """Keep what was found of rows; without permission or space, nothing is kept."""
        self._marks.keep()
        if len(self._kept) > self._n_kept:
            self._file.write(self._kept)

    def _find_evaluators(
        self, table: ResultTable, test_codes: NDArray[Any], is_told: NDArray[np.bool_]
    ) -> NDArray[np.uint64]:
        """Find today's fingerprint of the evaluator of each entry; 0 where it is not known."""
        import numpy as np

        n_told = np.bincount(test_codes[is_told], minlength=len(self._evaluators))
        for code in np.flatnonzero((n_told > 0) & ~self._is_asked_for).tolist():
            test = self._tests[table.values["test_id"][code]]
            current = self._kept.get(test.test_id) or self._fingerprint_evaluator(test)
            if current:
                self._kept[test.test_id] = current
            self._evaluators[code] = encode_fingerprint(current) if current else 0
            self._is_asked_for[code] = True
        found: NDArray[np.uint64] = self._evaluators[test_codes]
        return found

    def _find_changed_requests(
        self, table: ResultTable, rows: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Mark those of some rows that would be asked otherwise today."""
        places = table.columns["place"][rows]
        is_known, is_other = self._marks.look_up(places)
        new = (~is_known).nonzero()[0]
        is_other[new] = self._compare_requests(table, rows[new])
        self._marks.note(places[new], is_other[new])
        return is_other

    def _compare_requests(self, table: ResultTable, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Compute for some rows if they would be asked otherwise today."""
        import numpy as np

        order = table.columns["test_id"][rows].argsort(kind="stable")
        digests = np.empty(len(rows), dtype=np.uint64)
        digests[order] = self._digest_requests(table, rows[order])
        is_other: NDArray[np.bool_] = digests != table.columns["request_code"][rows]
        return is_other

    def _digest_requests(self, table: ResultTable, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Compute today's fingerprints of rows that are ordered by test."""
        import numpy as np

        llm_of = [self._llms.get(llm_id) for llm_id in table.values["llm_id"]]
        asked = [llm for code in table.columns["llm_id"][rows].tolist() if (llm := llm_of[code])]
        test_codes = table.columns["test_id"][rows]
        starts = np.flatnonzero(np.diff(test_codes, prepend=-1)).tolist()
        digests: list[bytes] = []
        for start, end in pairwise((*starts, len(rows))):
            test = self._tests[table.values["test_id"][int(test_codes[start])]]
            digests += self._fingerprints.digest_requests(asked[start:end], test)
        return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def note_table(
    states: TrialStates,
    table: ResultTable,
    fingerprints: Fingerprints,
    known_tests: Container[str],
) -> None:
    """Take the states of all results of a table, as `TrialStates.note_all`.

    They are kept: of a million results, finding them takes longer than all else of a command.

    Raises:
        StoreError: If the index is damaged.
    """
    file = _open_kept("states", table, fingerprints, states.describe())
    known = file.read()
    if known is not None:
        states.restore(known)
        return
    _note_rows(states, table, fingerprints, known_tests)
    file.write(states.dump())


def _open_kept(
    name: str, table: ResultTable, fingerprints: Fingerprints, facts: object
) -> KeptFile[dict[str, Any]]:
    """Open what was found of all rows, or of nothing where it cannot be told that it holds.

    Args:
        name: Of the file.
        table: The rows.
        fingerprints: Of today's requests and evaluators.
        facts: What it depends on beside; anything that JSON holds.
    """
    about = fingerprints.identify_evaluators() if table.basis else ""
    code = [hash_code(Path(file)) for file in (__file__, trial_states.__file__)]
    return KeptFile(table.basis if about else None, name, [table.name_rows(), about, code, facts])


def _note_rows(
    states: TrialStates,
    table: ResultTable,
    fingerprints: Fingerprints,
    known_tests: Container[str],
) -> None:
    llms, tests = states.llms, states.tests
    finder = StateFinder(
        table,
        {llm.id: llm for llm in llms},
        {test.test_id: test for test in tests},
        fingerprints,
        fingerprints.of_evaluator,
    )
    texts = ("request_fingerprint", "evaluator_fingerprint", "response", "thinking")
    for _, block in table.split():
        others = states.note_columns(block, partial(finder.find, block)) & ~block.is_scored
        others |= block.find_entries("test_id", lambda test_id: test_id not in known_tests)
        states.note_all(block.whole(others.nonzero()[0], texts), fingerprints, known_tests)
        block.release()
    finder.keep()
