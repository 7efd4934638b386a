"""What is compared: the results of models, runs, prompt versions, parameters; their tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from poor_bench.comparison.result_set import (
    ComparedSubject,
    ResultSet,
    RunFacts,
    SubjectKind,
    hash_parameters,
    hash_prompt,
    tell_parameters_apart,
)
from poor_bench.dashboard.services.computations import Kept
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.extraction.thinking import split_thinking
from poor_bench.metrics.trust import NOT_RUN, TrustNote, list_trial_notes
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.resolver import read_run_facts
from poor_bench.results.figures import without_removed
from poor_bench.results.grid import TrialGrid
from poor_bench.results.index import ResultIndex
from poor_bench.results.joined_table import SelectedRows, join_tables
from poor_bench.results.table import ResultTable
from poor_bench.runs.history import EARLIER, UNDO, StoredRun, read_stored_runs
from poor_bench.statistics.summary import StaleReason

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_RUNS = 30
"""The newest runs of a model: older ones are not offered."""
_PROMPTS = ("system_prompt", "prompt")


class ComparedSubjects:
    """Finds subjects and reads their results; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch, results: StoredResults) -> None:
        self._files = files
        self._results = results
        self._runs: Kept[list[StoredRun]] = Kept(1)
        self._indexes: Kept[ResultIndex] = Kept(MOST_RUNS)
        self._prompts: Kept[NDArray[Any]] = Kept(4 * MOST_RUNS)
        self._joined: Kept[ResultTable] = Kept()

    def table(self, names: Sequence[str]) -> ResultTable:
        """Collect the results of some subjects; their names stand for the ids of models.

        Args:
            names: Subjects as `ComparedSubject.parse` reads them.
        """
        present = self._results.table()
        subjects = [ComparedSubject.parse(name) for name in names]
        if all(each.kind is SubjectKind.MODEL for each in subjects):
            return present
        run_ids = tuple(run.run_id for run in self._read_stored())
        key = (present.version, self._files.workspace().version, run_ids, tuple(names))
        return self._joined.get(
            key, lambda: join_tables([part for each in subjects for part in self._select(each)])
        )

    def runs(self, llm_id: str) -> list[StoredRun]:
        """List the newest runs with results of a model, the newest first."""
        return self._list_runs(llm_id)[: -MOST_RUNS - 1 : -1]

    def _list_runs(self, llm_id: str) -> list[StoredRun]:
        """List the runs with results of a model, oldest first."""
        return [run for run in self._read_stored() if llm_id in (run.header.get("llms") or {})]

    def parameter_sets(self, llm_id: str) -> dict[str, Mapping[str, Any]]:
        """Find the sets of parameters that a model ran with, the newest first, by their hash."""
        return {
            hash_parameters(parameters): parameters
            for run in self.runs(llm_id)
            if (parameters := read_run_facts(run.header).parameters.get(llm_id)) is not None
        }

    def prompt_versions(self, llm_id: str) -> dict[str, list[str]]:
        """Find the versions of the prompt of each class that a model ran with, newest first."""
        tests = self._files.workspace().tests_by_id
        found: dict[str, dict[str, None]] = {}
        for table in reversed(list(self._tables(llm_id))):
            rows = table.find_rows(llm_id)
            hashes = self._hash_prompts(table, llm_id, rows).tolist()
            for row, version in zip(rows.tolist(), hashes, strict=True):
                if version:
                    class_id = tests[table.value("test_id", row)].class_id
                    found.setdefault(class_id, {})[version] = None
        return {class_id: list(versions) for class_id, versions in found.items()}

    def describe_version(self, subject: ComparedSubject) -> str:
        """Say which parameters or which prompt of a model a subject means; empty if unknown."""
        if subject.kind is SubjectKind.PARAMETERS:
            sets = self.parameter_sets(subject.llm_id)
            meant = sets.get(subject.version)
            return "" if meant is None else tell_parameters_apart(meant, sets.values())
        if subject.kind is SubjectKind.PROMPT:
            for class_id, versions in self.prompt_versions(subject.llm_id).items():
                if subject.version in versions:  # the oldest is the first
                    number = len(versions) - versions.index(subject.version)
                    return f"{number} of {len(versions)} of {class_id.replace('_', ' ')}"
        return ""

    def read_result_set(self, name: str) -> ResultSet:
        """Read the results of a subject, with the facts of their runs."""
        table = self.table([name])
        results = tuple(table.whole(table.find_rows(name), (*_PROMPTS, "model_digest")))
        return ResultSet(name=name, results=results, runs=self._facts(), is_llm=True)

    def _facts(self) -> dict[str, RunFacts]:
        return {run.run_id: read_run_facts(run.header) for run in self._read_stored()}

    def _read_stored(self) -> list[StoredRun]:
        """List the finished runs, oldest first; their headers are read once."""
        paths = tuple(self._files.store().paths.runs())
        return self._runs.get(
            paths,
            lambda: [run for run in read_stored_runs(paths) if run.kind not in {EARLIER, UNDO}],
        )

    def _select(self, subject: ComparedSubject) -> Iterator[SelectedRows]:
        """Yield the newest results of a subject, by the table that holds them."""
        newest: dict[tuple[str, int], tuple[int, int]] = {}
        tables = list(self._list_tables(subject))
        for number, table in enumerate(tables):
            for row in self._matching(table, subject).tolist():
                key = table.key(row)
                newest[key.test_id, key.trial] = number, row
        for number, table in enumerate(tables):
            rows = sorted(row for at, row in newest.values() if at == number)
            yield SelectedRows(subject.text, table, _as_rows(rows))

    def _list_tables(self, subject: ComparedSubject) -> Iterator[ResultTable]:
        if subject.kind is SubjectKind.MODEL:
            yield self._results.table()
        elif subject.kind is SubjectKind.PROMPT:
            yield from self._tables(subject.llm_id)
        else:
            for run in self._select_runs(subject):
                yield self._open(run.run_id)

    def _select_runs(self, subject: ComparedSubject) -> list[StoredRun]:
        """List the runs of a subject, oldest first: a run that an address names may be any."""
        if subject.kind is SubjectKind.RUN:
            runs = self._list_runs(subject.llm_id)
            return [run for run in runs if run.run_id == subject.version]
        return [run for run in reversed(self.runs(subject.llm_id)) if self._has_set(run, subject)]

    def _has_set(self, run: StoredRun, subject: ComparedSubject) -> bool:
        """True if a run asked the model with the set of parameters of a subject."""
        parameters = read_run_facts(run.header).parameters.get(subject.llm_id)
        return parameters is not None and hash_parameters(parameters) == subject.version

    def _tables(self, llm_id: str) -> Iterator[ResultTable]:
        """Yield the runs of a model, oldest first, and then what is stored at present."""
        for run in reversed(self.runs(llm_id)):
            yield self._open(run.run_id)
        yield self._results.table()

    def _open(self, run_id: str) -> ResultTable:
        store = self._files.store()
        index = self._indexes.get((store.paths, run_id), lambda: store.run_index(run_id))
        return without_removed(index.table(), self._results.enabled_tests(), generation=0)

    def _matching(self, table: ResultTable, subject: ComparedSubject) -> NDArray[np.int64]:
        rows = table.find_rows(subject.llm_id)
        if subject.kind is not SubjectKind.PROMPT:
            return rows
        is_meant = self._hash_prompts(table, subject.llm_id, rows) == subject.version
        matching: NDArray[np.int64] = rows[is_meant]
        return matching

    def _hash_prompts(
        self, table: ResultTable, llm_id: str, rows: NDArray[np.int64]
    ) -> NDArray[Any]:
        import numpy as np

        workspace = self._files.workspace()
        tests, key = workspace.tests_by_id, (table.version, workspace.version, llm_id)

        def find() -> NDArray[Any]:
            ids = [table.value("test_id", row) for row in rows.tolist()]
            pairs = zip(ids, table.text_columns(rows, _PROMPTS), strict=True)
            return np.array([_hash(tests[test_id], *texts) for test_id, texts in pairs], dtype=str)

        return self._prompts.get(key, find)


def _hash(test: Test, system_prompt: str | None, prompt: str | None) -> str:
    return hash_prompt(system_prompt or "", prompt or "", test)


def _as_rows(rows: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(rows, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctAnswer:
    """What one or more trials of a test answered in the same words."""

    text: str
    """The answer without thinking, or why there is none."""
    score: float | None
    """Mean over these trials; None where they failed to run."""
    results: tuple[Result, ...]
    """The trials, the first one standing for all."""

    @property
    def n_trials(self) -> int:
        """How many trials answered so."""
        return len(self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMLine:
    """One LLM on one test."""

    llm_id: str
    score: float | None
    """Mean over trials; None where nothing was scored."""
    change: float | None
    """Score minus the base's; None for the base, and where one of both has none."""
    mean_ms: float | None
    answers: tuple[DistinctAnswer, ...]
    """The most frequent first; empty where the test was never tried."""
    is_unlike: bool = False
    """True if it was asked or scored otherwise than the base of the same model."""

    @property
    def n_scored(self) -> int:
        """Trials that the score is over."""
        return sum(answer.n_trials for answer in self.answers if answer.score is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAnswers:
    """One test with a line for each LLM, the base first."""

    test_id: str
    test: Test | None
    """None where the test is not known any more."""
    lines: tuple[LLMLine, ...]


def read_compared_tests(
    grid: TrialGrid,
    lines: Sequence[int] | NDArray[np.int64],
    tests: Mapping[str, Test],
    is_unlike: NDArray[np.bool_] | None = None,
    texts: Sequence[str] | None = None,
) -> list[TestAnswers]:
    """Read some lines of a grid with their texts, all of them at once.

    Args:
        grid: The grid.
        lines: Of it.
        tests: Test id to test.
        is_unlike: As `CompareService.mark_unlike`; None marks nothing.
        texts: Texts of the results that are needed; None for all.
    """
    cells = [
        (int(line), column, grid.find_rows(int(line), column).tolist())
        for line in lines
        for column in range(len(grid.llm_ids))
    ]
    results = grid.table.whole([row for _, _, rows in cells for row in rows], texts)
    found: dict[int, list[LLMLine]] = {int(line): [] for line in lines}
    for line, column, rows in cells:
        score, base = float(grid.scores[line, column]), float(grid.scores[line, 0])
        answered = list(islice(results, len(rows)))
        of_llm = LLMLine(
            llm_id=grid.llm_ids[column],
            score=_drop_nan(score),
            change=_drop_nan(score - base) if column else None,
            mean_ms=_mean_ms(answered),
            answers=distinct_answers(answered),
            is_unlike=is_unlike is not None and bool(is_unlike[line, column]),
        )
        found[line].append(of_llm)
    return [
        TestAnswers(
            test_id=grid.test_ids[line], test=tests.get(grid.test_ids[line]), lines=tuple(of_llms)
        )
        for line, of_llms in found.items()
    ]


def _drop_nan(number: float) -> float | None:
    return None if math.isnan(number) else number


def _mean_ms(results: Sequence[Result]) -> float | None:
    times = [
        result.execution_time_ms
        for result in results
        if result.execution_time_ms is not None and result.failure is None
    ]
    return sum(times) / len(times) if times else None


def list_line_notes(
    line: LLMLine, find_reason: Callable[[Result], StaleReason | None]
) -> tuple[TrustNote, ...]:
    """List what lessens the trust in the score of a model on a test.

    Runs, prompt versions and parameter sets are of the past: they have no note.
    """
    if ComparedSubject.parse(line.llm_id).kind is not SubjectKind.MODEL:
        return ()
    if not line.answers:
        return (NOT_RUN,)
    results = chain.from_iterable(answer.results for answer in line.answers)
    notes = (list_trial_notes(each.failure, find_reason(each)) for each in results)
    return tuple(dict.fromkeys(chain.from_iterable(notes)))


def distinct_answers(results: Sequence[Result]) -> tuple[DistinctAnswer, ...]:
    """List the answers of some trials of one test, each wording once, most frequent first.

    Example:
        >>> trials = [Result(llm_id="a", test_id="t", score=1.0, response=text, trial=number)
        ...           for number, text in enumerate(["4", "five", " 4"], start=1)]
        >>> [(answer.text, answer.n_trials) for answer in distinct_answers(trials)]
        [('4', 2), ('five', 1)]
    """
    by_text: dict[tuple[bool, str], list[Result]] = {}
    for result in results:
        text = answer_text(result)
        by_text.setdefault((result.failure is None, text), []).append(result)
    answers = [
        DistinctAnswer(
            text=text,
            score=sum(result.score or 0.0 for result in members) / len(members)
            if is_scored
            else None,
            results=tuple(members),
        )
        for (is_scored, text), members in by_text.items()
    ]
    return tuple(sorted(answers, key=lambda answer: -answer.n_trials))


def answer_text(result: Result) -> str:
    """Show the answer without its thinking; for a failure, its reason."""
    if result.failure is not None:
        return result.failure.message
    return split_thinking(result.response).answer.strip()
