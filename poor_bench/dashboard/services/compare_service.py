"""Chosen models side by side: their tests, and which differences are significant."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from cachetools import LRUCache

from poor_bench.comparison.causes import list_changed_facts
from poor_bench.comparison.subject import Subject, SubjectKind
from poor_bench.dashboard.services.compared_subjects import ComparedSubjects
from poor_bench.dashboard.services.computations import Computations, Computed
from poor_bench.dashboard.services.trial_search import ResultDetails, build_details
from poor_bench.extraction.thinking import split_thinking
from poor_bench.metrics.trust import NOT_RUN, list_trial_notes
from poor_bench.models.result import Result
from poor_bench.results.grid import GridFilter, TrialGrid, find_lines, trial_grid
from poor_bench.results.grid_facets import GridFacets, find_facets
from poor_bench.statistics.comparison import Comparison, PairedDifference, compare_llms
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.groups import find_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.comparison.result_set import ResultSet
    from poor_bench.dashboard.services.computations import Computed
    from poor_bench.dashboard.services.stored_results import StoredResults
    from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
    from poor_bench.metrics.trust import TrustNote
    from poor_bench.models.test import Test
    from poor_bench.statistics.summary import StaleReason


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAnswers:
    """One test with a line for each LLM, the base first."""

    test_id: str
    test: Test | None
    """None where the test is not known any more."""
    lines: tuple[LLMLine, ...]


def read_compared_tests(
    grid: TrialGrid, lines: Sequence[int] | NDArray[np.int64], tests: Mapping[str, Test]
) -> list[TestAnswers]:
    """Read some lines of a grid with their texts, all of them at once."""
    cells = [
        (int(line), column, grid.find_rows(int(line), column).tolist())
        for line in lines
        for column in range(len(grid.llm_ids))
    ]
    results = grid.table.whole([row for _, _, rows in cells for row in rows])
    found: dict[int, list[LLMLine]] = {int(line): [] for line in lines}
    for line, column, rows in cells:
        score, base = float(grid.scores[line, column]), float(grid.scores[line, 0])
        change = _drop_nan(score - base) if column else None
        answered = list(islice(results, len(rows)))
        found[line].append(_line(grid.llm_ids[column], answered, _drop_nan(score), change))
    return [
        TestAnswers(
            test_id=grid.test_ids[line], test=tests.get(grid.test_ids[line]), lines=tuple(of_llms)
        )
        for line, of_llms in found.items()
    ]


def _drop_nan(number: float) -> float | None:
    return None if math.isnan(number) else number


def _line(
    llm_id: str, results: Sequence[Result], score: float | None, change: float | None
) -> LLMLine:
    times = [
        result.execution_time_ms
        for result in results
        if result.execution_time_ms is not None and result.failure is None
    ]
    return LLMLine(
        llm_id=llm_id,
        score=score,
        change=change,
        mean_ms=sum(times) / len(times) if times else None,
        answers=distinct_answers(results),
    )


def list_line_notes(
    line: LLMLine, find_reason: Callable[[Result], StaleReason | None]
) -> tuple[TrustNote, ...]:
    """List what lessens the trust in the score of a model on a test.

    Runs, prompt versions and parameter sets are of the past: they have no note.
    """
    if Subject.parse(line.llm_id).kind is not SubjectKind.MODEL:
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


def against_base(comparison: Comparison, base: str) -> dict[str, PairedDifference]:
    """Compare every other LLM with the base; those without common tests are missing."""
    found = {}
    for pair in comparison.pairs:
        if pair.llm_b == base:
            found[pair.llm_a] = pair
        elif pair.llm_a == base:
            found[pair.llm_b] = _swap(pair)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScore:
    """Mean score of an LLM on a class, and against the base."""

    score: float | None
    """None where nothing was scored."""
    against_base: Estimate | None
    """Mean paired difference to the base; None for the base and without common tests."""


def class_scores(grid: TrialGrid, tests: Mapping[str, Test]) -> dict[str, tuple[ClassScore, ...]]:
    """Return for each class one entry per LLM of the grid; unknown tests are class "" ."""
    import numpy as np

    lines_by_class: dict[str, list[int]] = {}
    for line, test_id in enumerate(grid.test_ids):
        class_id = tests[test_id].class_id if test_id in tests else ""
        lines_by_class.setdefault(class_id, []).append(line)
    found = {}
    for class_id, lines in lines_by_class.items():
        scores = grid.scores[np.array(lines)]
        groups = find_groups((grid.test_ids[line] for line in lines), tests) or [None] * len(lines)
        found[class_id] = tuple(
            _class_score(
                scores[:, column].tolist(), scores[:, 0].tolist() if column else None, groups
            )
            for column in range(len(grid.llm_ids))
        )
    return found


def _class_score(
    scores: Sequence[float], base: Sequence[float] | None, groups: Sequence[str | None]
) -> ClassScore:
    known = [score for score in scores if not math.isnan(score)]
    common = [
        (score - other, group)
        for score, other, group in zip(scores, base or (), groups, strict=False)
        if not math.isnan(score - other)
    ]
    changes, changed = [pair[0] for pair in common], [pair[1] for pair in common]
    return ClassScore(
        score=sum(known) / len(known) if known else None,
        against_base=estimate_paired_difference(changes, changed) if changes else None,
    )


_KEPT = 16


class CompareService:
    """Grids and comparisons of chosen LLMs; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch, results: StoredResults) -> None:
        self._files = files
        self._results = results
        self.subjects = ComparedSubjects(files, results)
        self._changes: Computations[dict[str, tuple[str, ...]]] = Computations()
        self._comparisons: Computations[Comparison] = Computations()
        self._lock = threading.Lock()
        self._grids: LRUCache[Hashable, TrialGrid] = LRUCache(_KEPT)
        self._facets: LRUCache[Hashable, GridFacets] = LRUCache(_KEPT)
        self._lines: LRUCache[Hashable, NDArray[np.int64]] = LRUCache(_KEPT)

    def best_first(self) -> tuple[str, ...]:
        """Return all LLMs with results, best first."""
        return self._results.ranking().llm_ids

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Return the figures of some subjects; those without results are missing."""
        table = self.subjects.table(names)
        if table is self._results.table():
            found = self._results.summaries(GroupBy.LLM, names)
        else:
            found = summarise(table, tests=self._files.workspace().tests_by_id, by=GroupBy.LLM)
        return {summary.group.llm_id: summary for summary in found}

    def changes(self, names: Sequence[str]) -> Computed[dict[str, tuple[str, ...]]]:
        """List what changed between the first subject and others of its model: prompt, ...

        Subjects of other models are missing: there, all may differ.
        """
        base, *others = names
        llm_id = Subject.parse(base).llm_id
        alike = [name for name in others if Subject.parse(name).llm_id == llm_id]
        tests = self._files.workspace().tests_by_id

        def find() -> dict[str, tuple[str, ...]]:
            before = self._read_alike(base, llm_id)
            return {
                name: list_changed_facts(before, self._read_alike(name, llm_id), llm_id, tests)
                for name in alike
            }

        version = (id(tests), self.subjects.table(names).version)
        return self._changes.ask((base, *alike), version, find)

    def _read_alike(self, name: str, llm_id: str) -> ResultSet:
        found = self.subjects.read_result_set(name)
        results = tuple(replace(result, llm_id=llm_id) for result in found.results)
        return replace(found, results=results)

    def comparison(self, llm_ids: Sequence[str]) -> Computed[Comparison]:
        """Compare all pairs of some LLMs, as far as that is computed by now."""
        table, topic = self.subjects.table(llm_ids), sorted(set(llm_ids))
        tests = self._files.workspace().tests_by_id
        version = (id(tests), *(table.llm_versions.get(llm_id) for llm_id in topic))

        def compare() -> Comparison:
            chosen = table.pick(table.find_entries("llm_id", topic.__contains__))
            groups = {test_id: test.group for test_id, test in tests.items()}
            return compare_llms(chosen, groups=groups)

        return self._comparisons.ask(tuple(topic), version, compare)

    def grid(self, llm_ids: Sequence[str]) -> TrialGrid:
        """Return the trials of some LLMs, the first one being the base."""
        table, workspace = self.subjects.table(llm_ids), self._files.workspace()
        key = (table.version, id(workspace), tuple(llm_ids))
        with self._lock:
            grid = self._grids.get(key)
            if grid is None:
                grid = trial_grid(table, workspace.tests_by_id, llm_ids)
                self._grids[key] = grid
            return grid

    def lines(self, grid: TrialGrid, wanted: GridFilter) -> NDArray[np.int64]:
        """Return the lines of a grid that pass a filter."""
        workspace = self._files.workspace()
        key = (grid.table.version, id(workspace), grid.llm_ids, wanted)
        with self._lock:
            lines = self._lines.get(key)
        if lines is None:
            lines = find_lines(grid, workspace.tests_by_id, wanted)
            with self._lock:
                self._lines[key] = lines
        return lines

    def facets(self, grid: TrialGrid) -> GridFacets:
        """Return which lines of a grid have which class, level, cause, latency and difference."""
        workspace = self._files.workspace()
        key = (grid.table.version, id(workspace), grid.llm_ids)
        with self._lock:
            facets = self._facets.get(key)
        if facets is None:
            facets = find_facets(grid, workspace.tests_by_id)
            with self._lock:
                self._facets[key] = facets
        return facets

    def details(self, result: Result) -> ResultDetails:
        """Return a trial of a subject with what belongs to it, without its issues."""
        own = replace(result, llm_id=Subject.parse(result.llm_id).llm_id)
        return build_details(own, self._files.workspace())


def _swap(pair: PairedDifference) -> PairedDifference:
    seen = pair.difference
    return replace(
        pair,
        llm_a=pair.llm_b,
        llm_b=pair.llm_a,
        mean_a=pair.mean_b,
        mean_b=pair.mean_a,
        difference=Estimate(value=-seen.value, low=-seen.high, high=-seen.low, n=seen.n),
        n_better=pair.n_worse,
        n_worse=pair.n_better,
    )
