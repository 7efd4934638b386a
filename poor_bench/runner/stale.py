"""Which stored scores are stale: asked or scored otherwise than the workspace would today."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.errors import PoorBenchError
from poor_bench.judge.response_judging import WorkspaceJudges
from poor_bench.models.result import Result
from poor_bench.prompts import build_messages
from poor_bench.results.columns import encode_fingerprint
from poor_bench.results.figures import count_stale
from poor_bench.results.row_marks import RowMarks
from poor_bench.runner.scorer import WorkspaceFingerprints
from poor_bench.runner.trial_states import Fingerprints, TrialState, TrialStates, find_scored_state
from poor_bench.statistics.summary import StaleCounts, StaleReason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.llm import LLM
    from poor_bench.models.test import Test
    from poor_bench.results.table import ResultTable
    from poor_bench.workspace_folder import WorkspaceFolder

TrialKey = tuple[str, str, int]
"""LLM id, test id and number of a trial."""


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
        judges = WorkspaceJudges(config.data_dir, workspace.llms)
        self._fingerprints = WorkspaceFingerprints(workspace, config.evaluators, judges)
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
        return count_stale(table, *self.find_rows(table, llm_ids), self._tests)

    def find_rows(
        self, table: ResultTable, llm_ids: Collection[str] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Find the scored rows that store fingerprints, and what changed since they were scored.

        The second array holds the place of each row's reason in `StaleReason`, from 1; 0 where it
        is not stale.

        Args:
            table: Results of tests of the workspace.
            llm_ids: The models, or None for all; of removed ones nothing is known.

        Raises:
            StoreError: If the index is damaged.
        """
        import numpy as np

        def is_asked_for(llm_id: str) -> bool:
            return llm_id in self._llms and (llm_ids is None or llm_id in llm_ids)

        rows = np.flatnonzero(table.is_scored & table.find_entries("llm_id", is_asked_for))
        fingerprints = select_fingerprints(table, rows)
        is_known = fingerprints.is_known
        states = fingerprints.find_states(
            self._llms, self._tests, self._fingerprints, self._fingerprint_evaluator
        )
        return rows[is_known], self._find_reasons(table, rows[is_known], states[is_known])

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


class StoredFingerprints(NamedTuple):
    """Fingerprints of scored rows of a table, as numbers; 0 where they are not known."""

    table: ResultTable
    rows: NDArray[np.int64]
    asked: NDArray[np.uint64]
    """Of the request of each row."""
    scored: NDArray[np.uint64]
    """Of the evaluator."""

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """True for each row that stores a fingerprint."""
        known: NDArray[np.bool_] = (self.asked | self.scored) != 0
        return known

    def find_states(
        self,
        llms: Mapping[str, LLM],
        tests: Mapping[str, Test],
        fingerprints: Fingerprints,
        fingerprint_evaluator: Callable[[Test], str | None],
    ) -> NDArray[np.uint8]:
        """Find the state that each score gives its trial, as `find_scored_state`.

        Args:
            llms: By id; all that have such rows.
            tests: By id; all that have such rows.
            fingerprints: Of today's requests.
            fingerprint_evaluator: Gives today's fingerprint; None where it is not known.
        """
        import numpy as np

        states = np.full(len(self.rows), TrialState.DONE, dtype=np.uint8)
        test_codes = self.table.columns["test_id"][self.rows]
        now = np.zeros(len(self.table.values["test_id"]), dtype=np.uint64)
        for code in np.flatnonzero(np.bincount(test_codes[self.scored != 0])).tolist():
            current = fingerprint_evaluator(tests[self.table.values["test_id"][code]])
            now[code] = encode_fingerprint(current) if current else 0
        current_of_row = now[test_codes]
        is_other = (self.scored != current_of_row) & (self.scored != 0) & (current_of_row != 0)
        states[is_other] = TrialState.STALE_SCORE
        asked = np.flatnonzero(self.asked != 0)
        is_other = self._find_changed_requests(asked, llms, tests, fingerprints)
        states[asked[is_other]] = TrialState.STALE_REQUEST
        return states

    def _find_changed_requests(
        self,
        asked: NDArray[np.int64],
        llms: Mapping[str, LLM],
        tests: Mapping[str, Test],
        fingerprints: Fingerprints,
    ) -> NDArray[np.bool_]:
        """Mark those of some entries that would be asked otherwise today.

        What was found of a row is kept: hashing a million requests takes longer than all else.
        """
        basis = self.table.basis
        about = fingerprints.identify_requests() if basis else ""
        marks = RowMarks(basis if about else None, "requests", about)
        places = self.table.columns["place"][self.rows[asked]]
        is_known, is_other = marks.look_up(places)
        new = (~is_known).nonzero()[0]
        is_other[new] = self._compare_requests(asked[new], llms, tests, fingerprints)
        marks.note(places[new], is_other[new])
        return is_other

    def _compare_requests(
        self,
        entries: NDArray[np.int64],
        llms: Mapping[str, LLM],
        tests: Mapping[str, Test],
        fingerprints: Fingerprints,
    ) -> NDArray[np.bool_]:
        """Compute for some entries if they would be asked otherwise today."""
        import numpy as np

        order = self.table.columns["test_id"][self.rows[entries]].argsort(kind="stable")
        digests = np.empty(len(entries), dtype=np.uint64)
        digests[order] = self._digest_requests(entries[order], llms, tests, fingerprints)
        is_other: NDArray[np.bool_] = digests != self.asked[entries]
        return is_other

    def _digest_requests(
        self,
        places: NDArray[np.int64],
        llms: Mapping[str, LLM],
        tests: Mapping[str, Test],
        fingerprints: Fingerprints,
    ) -> NDArray[np.uint64]:
        """Compute today's fingerprints of rows that are ordered by test."""
        import numpy as np

        llm_of = [llms.get(llm_id) for llm_id in self.table.values["llm_id"]]
        codes = self.table.columns["llm_id"][self.rows[places]].tolist()
        asked = [llm for code in codes if (llm := llm_of[code])]
        test_codes = self.table.columns["test_id"][self.rows[places]]
        starts = np.flatnonzero(np.diff(test_codes, prepend=-1)).tolist()
        digests: list[bytes] = []
        for start, end in pairwise((*starts, len(places))):
            test = tests[self.table.values["test_id"][int(test_codes[start])]]
            digests += fingerprints.digest_requests(asked[start:end], test)
        return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def select_fingerprints(table: ResultTable, rows: NDArray[np.int64]) -> StoredFingerprints:
    """Select the fingerprints of scored rows."""
    asked, scored = (table.columns[name][rows] for name in ("request_code", "evaluator_code"))
    return StoredFingerprints(table, rows, asked, scored)


def note_table(
    states: TrialStates,
    table: ResultTable,
    fingerprints: Fingerprints,
    known_tests: Container[str],
) -> None:
    """Take the states of all results of a table, as `TrialStates.note_all`.

    Raises:
        StoreError: If the index is damaged.
    """
    import numpy as np

    is_here = states.find_slots(table) >= 0
    scored = np.flatnonzero(is_here & table.is_scored)
    found = select_fingerprints(table, scored).find_states(
        {llm.id: llm for llm in states.llms},
        {test.test_id: test for test in states.tests},
        fingerprints,
        fingerprints.of_evaluator,
    )
    states.note_columns(table, scored, found)
    others = ~table.is_scored & is_here
    others |= table.find_entries("test_id", lambda test_id: test_id not in known_tests)
    texts = ("request_fingerprint", "evaluator_fingerprint", "response", "thinking")
    rows = np.flatnonzero(others)
    states.note_all(table.whole(rows, texts), fingerprints, known_tests)
