"""Chosen models side by side: their tests, and which differences are significant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from poor_bench.comparison.causes import list_changed_facts
from poor_bench.comparison.result_set import ComparedSubject, ResultSet, SubjectKind
from poor_bench.dashboard.services.compared import ComparedSubjects
from poor_bench.dashboard.services.computations import Computations, Computed, Kept, Requests
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.trial_search import ResultDetails, build_details
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.results.grid import GridFacets, TrialGrid, find_facets, trial_grid
from poor_bench.results.grid_lines import find_lines
from poor_bench.results.table import ResultTable
from poor_bench.statistics.comparison import Comparison, PairedDifference, compare_llms
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.groups import find_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy, Summary
from poor_bench.statistics.trials import TrialColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    n: int
    """Tests that it is over."""
    against_base: Estimate | None
    """Mean paired difference to the base; None for the base and without common tests."""


def class_scores(grid: TrialGrid, tests: Mapping[str, Test]) -> dict[str, tuple[ClassScore, ...]]:
    """Compute the scores by class of each LLM of a grid; unknown tests are class "" ."""
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
        n=len(known),
        against_base=estimate_paired_difference(changes, changed) if changes else None,
    )


@dataclass(frozen=True, slots=True)
class Likeness:
    """How many tests the subjects of the base's model were asked and scored alike."""

    n_alike: int
    n_different: int
    """Prompt, parameters, model or evaluator differ."""
    n_unknown: int
    """No fingerprint is stored, or a subject lacks the test."""


V = TypeVar("V")
_PAIRED = ("llm_id", "test_id", "score")
"""Columns that pairs are compared by: a copy of all columns takes ten times the memory."""
_ALIKE = 1 << 50
"""Added to the version of a table of which only tests that were asked alike are kept."""


class CompareService:
    """Grids and comparisons of chosen LLMs; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch, results: StoredResults, requests: Requests) -> None:
        self._files = files
        self._results = results
        self.subjects = ComparedSubjects(files, results)
        self._changes: Computations[dict[str, tuple[str, ...]]] = Computations(requests=requests)
        self._comparisons: Computations[Comparison] = Computations(requests=requests)
        self._grids: Kept[TrialGrid] = Kept()
        self._facets: Kept[GridFacets] = Kept()
        self._lines: Kept[NDArray[np.int64]] = Kept()
        self._class_scores: Kept[dict[str, tuple[ClassScore, ...]]] = Kept()
        self._alike: Kept[NDArray[np.int8]] = Kept()
        self._alike_tables: Kept[ResultTable] = Kept()

    def best_first(self) -> tuple[str, ...]:
        """List all LLMs with results, best first."""
        return self._results.ranking().llm_ids

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Compute the figures of some subjects; those without results are missing."""
        return {row.group.llm_id: row for row in self.list_rows(names, GroupBy.LLM)}

    def list_rows(self, names: Sequence[str], by: GroupBy) -> list[Summary]:
        """Summarise some subjects; what is stale or pending is known of whole models only."""
        models = [name for name in names if ComparedSubject.parse(name).kind is SubjectKind.MODEL]
        rows = self._results.summaries(by, models)
        if len(models) == len(names):
            return rows
        table, tests = self.subjects.table(names), self._files.workspace().tests_by_id
        parts = [
            row for row in summarise(table, tests=tests, by=by) if row.group.llm_id not in models
        ]
        return [*rows, *self._results.add_coverage(parts, ())]

    def changes(self, names: Sequence[str]) -> Computed[dict[str, tuple[str, ...]]]:
        """List what changed between the first subject and others of its model: prompt, ...

        Subjects of other models are missing: there, all may differ.
        """
        base, *others = names
        llm_id = ComparedSubject.parse(base).llm_id
        alike = [name for name in others if ComparedSubject.parse(name).llm_id == llm_id]
        workspace = self._files.workspace()

        def find() -> dict[str, tuple[str, ...]]:
            if not alike:  # reading all texts of the base takes long
                return {}
            before = self._read_alike(base, llm_id)
            return {
                name: list_changed_facts(
                    before, self._read_alike(name, llm_id), llm_id, workspace.tests_by_id
                )
                for name in alike
            }

        version = (workspace.version, self.subjects.table(names).version)
        return self._changes.ask((base, *alike), version, find)

    def _read_alike(self, name: str, llm_id: str) -> ResultSet:
        found = self.subjects.read_result_set(name)
        results = tuple(replace(result, llm_id=llm_id) for result in found.results)
        return replace(found, results=results)

    def comparison(self, llm_ids: Sequence[str], *, is_alike: bool = False) -> Computed[Comparison]:
        """Compare all pairs of some subjects, as far as that is computed by now; see `grid`."""
        table, topic = self.table(llm_ids, is_alike=is_alike), sorted(set(llm_ids))
        workspace = self._files.workspace()
        version = (workspace.version, *(table.llm_versions.get(llm_id) for llm_id in topic))

        def compare() -> Comparison:
            paired = {name: table.columns[name] for name in _PAIRED}
            trials = TrialColumns(columns=paired, values=table.values)
            chosen = trials.pick(table.find_entries("llm_id", topic.__contains__))
            groups = {test_id: test.group for test_id, test in workspace.tests_by_id.items()}
            return compare_llms(chosen, groups=groups)

        of_these = is_alike, *topic
        return self._comparisons.ask(of_these, version, compare)

    def grid(self, llm_ids: Sequence[str], *, is_alike: bool = False) -> TrialGrid:
        """Collect the trials of some subjects, the first one being the base.

        Args:
            llm_ids: The subjects.
            is_alike: Keep only tests that all subjects of the base's model were asked alike.
        """
        table, workspace = self.table(llm_ids, is_alike=is_alike), self._files.workspace()
        key = (table.version, workspace.version, tuple(llm_ids))
        return self._grids.get(key, lambda: trial_grid(table, workspace.tests_by_id, llm_ids))

    def table(self, names: Sequence[str], *, is_alike: bool = False) -> ResultTable:
        """Collect the results of some subjects, see `grid`."""
        table = self.subjects.table(names)
        if not is_alike:
            return table

        def select() -> ResultTable:
            grid = self.grid(names)
            lines = (self.alike(grid) == 1).all(axis=1).nonzero()[0].tolist()
            kept = {grid.test_ids[line] for line in lines}
            return table.select(table.find_entries("test_id", kept.__contains__), offset=_ALIKE)

        return self._alike_tables.get((table.version, tuple(names)), select)

    def alike(self, grid: TrialGrid) -> NDArray[np.int8]:
        """Compare how the cells of the base's model were asked and scored with the base.

        Returns:
            As `TrialGrid.find_alike`; cells of other models count as alike.
        """

        def find() -> NDArray[np.int8]:
            found = grid.find_alike()
            models = [ComparedSubject.parse(name).llm_id for name in grid.llm_ids]
            others = [number for number, llm_id in enumerate(models) if llm_id != models[0]]
            found[:, others] = 1
            return found

        key = (grid.table.version, self._files.workspace().version, grid.llm_ids)
        return self._alike.get(key, find)

    def likeness(self, names: Sequence[str]) -> Likeness | None:
        """Count the tests that were asked alike; None if no two subjects are of one model."""
        models = [ComparedSubject.parse(name).llm_id for name in names]
        if models.count(models[0]) < 2:
            return None
        lowest = self.alike(self.grid(names)).min(axis=1, initial=1)
        counts = [int((lowest == value).sum()) for value in (1, -1, 0)]
        return Likeness(*counts)

    def class_scores(self, grid: TrialGrid) -> dict[str, tuple[ClassScore, ...]]:
        """Compute the scores by class of a grid."""
        workspace = self._files.workspace()
        key = (grid.table.version, workspace.version, grid.llm_ids)
        return self._class_scores.get(key, lambda: class_scores(grid, workspace.tests_by_id))

    def lines(self, grid: TrialGrid, text: str) -> NDArray[np.int64]:
        """Find the lines of a grid that a search finds."""
        workspace = self._files.workspace()
        key = (grid.table.version, workspace.version, grid.llm_ids, text)
        return self._lines.get(key, lambda: find_lines(grid, workspace.tests_by_id, text))

    def facets(self, grid: TrialGrid) -> GridFacets:
        """Tell which lines of a grid have which class, level, cause, latency and difference."""
        workspace = self._files.workspace()
        key = (grid.table.version, workspace.version, grid.llm_ids)
        return self._facets.get(key, lambda: find_facets(grid, workspace.tests_by_id))

    def details(self, result: Result) -> ResultDetails:
        """Describe a trial of a subject with what belongs to it, without its issues."""
        own = replace(result, llm_id=ComparedSubject.parse(result.llm_id).llm_id)
        return build_details(own, self._files.workspace())


def _swap(pair: PairedDifference) -> PairedDifference:
    seen = pair.difference
    return replace(
        pair,
        llm_a=pair.llm_b,
        llm_b=pair.llm_a,
        mean_a=pair.mean_b,
        mean_b=pair.mean_a,
        difference=Estimate(value=0.0 - seen.value, low=-seen.high, high=-seen.low, n=seen.n),
        n_better=pair.n_worse,
        n_worse=pair.n_better,
    )
