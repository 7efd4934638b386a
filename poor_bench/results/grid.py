"""Chosen models side by side: a grid of tests and models, and its tests by class, level, cause."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.models.failure import FailureKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.test import Test
    from poor_bench.results.table import ResultTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialGrid:
    """Figures of every chosen LLM on every test that one of them was asked.

    Arrays have one line per test, in the order of the workspace, and one column per LLM.
    """

    table: ResultTable
    llm_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    scores: NDArray[np.float64]
    """Mean over trials, 0.0 to 1.0; NaN where nothing was scored."""
    strict_scores: NDArray[np.float64]
    """The same under the format rules."""
    spreads: NDArray[np.float64]
    """Highest minus lowest score of the trials; NaN where nothing was scored."""
    n_failed: NDArray[np.int64]
    """Trials without a score that failed to run."""
    _rows: NDArray[np.int64]
    _starts: NDArray[np.int64]

    def find_rows(self, test: int, llm: int) -> NDArray[np.int64]:
        """Find the rows of `table` behind a cell of the grid."""
        place = test * len(self.llm_ids) + llm
        return self._rows[self._starts[place] : self._starts[place + 1]]

    def tests_with(self, words: str, *, is_pattern: bool = False) -> set[int]:
        """Find the lines in which a trial of any LLM holds `words`, in any case."""
        import numpy as np

        places = np.flatnonzero(self.table.holding(words, self._rows, is_pattern=is_pattern))
        return self._find_lines(places)

    def mark_causes(self) -> dict[str, NDArray[np.bool_]]:
        """Mark for each cause of lost score the lines with a trial that lost score for it."""
        import numpy as np

        marked = {}
        for cause, places in sorted(self.table.places_by_text("cause", self._rows).items()):
            marked[cause] = np.zeros(len(self.test_ids), dtype=np.bool_)
            marked[cause][list(self._find_lines(places))] = True
        return marked

    def mean_seconds(self) -> NDArray[np.float64]:
        """Compute the mean execution time of the scored trials of every cell; NaN without any."""
        import numpy as np

        cells = self._cells()
        columns = self.table.columns
        times = columns["execution_time_ms"][self._rows]
        is_known = ~np.isnan(times) & ~np.isnan(columns["score"][self._rows])
        counts = np.bincount(cells[is_known], minlength=self.scores.size)
        means = _means(cells[is_known], times[is_known], counts) / 1000
        return means.reshape(self.scores.shape)

    def find_alike(self) -> NDArray[np.int8]:
        """Compare how each cell was asked and scored with the first cell of its line.

        Returns:
            1 where request, model and evaluator are the same, 0 where that is not known or a cell
            is empty, -1 where one of them differs.
        """
        import numpy as np

        alike = np.ones(self.scores.shape, dtype=np.int8)
        columns = self.table.columns
        for codes in (columns["request_code"], columns["evaluator_code"]):
            lowest, highest = self._bounds(codes[self._rows])
            is_known = (lowest > 0) & (lowest[:, :1] > 0)
            is_same = (lowest == lowest[:, :1]) & (highest == highest[:, :1])
            alike = np.minimum(alike, np.where(is_known, np.where(is_same, 1, -1), 0))
        lowest, highest = self._bounds(self._number_digests())
        is_known = (lowest > 0) & (lowest[:, :1] > 0)  # many servers do not tell
        is_other = (lowest != lowest[:, :1]) | (highest != highest[:, :1])
        alike[is_known & is_other] = -1
        found: NDArray[np.int8] = alike.astype(np.int8)
        return found

    def _number_digests(self) -> NDArray[np.uint64]:
        """Number the versions of the models, from 1; 0 where it is not known."""
        import numpy as np

        numbers = np.zeros(len(self._rows), dtype=np.uint64)
        known = self.table.places_by_text("model_digest", self._rows)
        for number, places in enumerate(known.values(), 1):
            numbers[places] = number
        return numbers

    def _bounds(self, codes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Find the lowest and the highest code of every cell; 0 where it is empty."""
        import numpy as np

        cells = self._cells()
        highest = np.zeros(self.scores.size, dtype=np.uint64)
        lowest = np.full(self.scores.size, np.iinfo(np.uint64).max, dtype=np.uint64)
        np.maximum.at(highest, cells, codes)
        np.minimum.at(lowest, cells, codes)
        lowest[np.diff(self._starts) == 0] = 0
        return lowest.reshape(self.scores.shape), highest.reshape(self.scores.shape)

    def _cells(self) -> NDArray[np.int64]:
        """Number the cell of every row."""
        import numpy as np

        lengths = np.diff(self._starts)
        return np.repeat(np.arange(len(lengths)), lengths)

    def _find_lines(self, places: NDArray[np.int64]) -> set[int]:
        """Find the lines of some places in `_rows`."""
        import numpy as np

        cells = np.searchsorted(self._starts, places, side="right") - 1
        return set((cells // len(self.llm_ids)).tolist())


def trial_grid(table: ResultTable, tests: Mapping[str, Test], llm_ids: Sequence[str]) -> TrialGrid:
    """Arrange the trials of some LLMs as a grid.

    Args:
        table: All results.
        tests: Test id to test; their order is that of the lines, unknown tests come last.
        llm_ids: The columns; those without results stay empty.
    """
    import numpy as np

    columns = np.full(len(table.llm_ids) + 1, -1, dtype=np.int64)
    for column, llm_id in enumerate(llm_ids):
        columns[table.find_code("llm_id", llm_id)] = column
    columns[-1] = -1
    column_of = columns[table.columns["llm_id"]]
    rows = np.flatnonzero(column_of >= 0)
    codes, lines = np.unique(table.columns["test_id"][rows], return_inverse=True)
    ids = [str(table.values["test_id"][code]) for code in codes]
    places = {test_id: place for place, test_id in enumerate(tests)}
    order = sorted(range(len(ids)), key=lambda line: places.get(ids[line], len(places)))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    index = ranks[lines] * len(llm_ids) + column_of[rows]
    return _fill(table, tuple(llm_ids), tuple(ids[line] for line in order), rows, index)


def _fill(
    table: ResultTable,
    llm_ids: tuple[str, ...],
    test_ids: tuple[str, ...],
    rows: NDArray[np.int64],
    index: NDArray[np.int64],
) -> TrialGrid:
    import numpy as np

    shape = len(test_ids), len(llm_ids)
    size = shape[0] * shape[1]
    score = table.columns["score"][rows]
    strict = table.columns["strict_score"][rows]
    is_scored = ~np.isnan(score)
    is_unjudged = table.find_entries("failure_kind", lambda kind: kind is FailureKind.JUDGE)
    places, score = index[is_scored], score[is_scored]
    strict = np.where(np.isnan(strict[is_scored]), score, strict[is_scored])
    counts = np.bincount(places, minlength=size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, places, score)
    np.maximum.at(highest, places, score)
    order = np.argsort(index, kind="stable")
    return TrialGrid(
        table=table,
        llm_ids=llm_ids,
        test_ids=test_ids,
        scores=_means(places, score, counts).reshape(shape),
        strict_scores=_means(places, strict, counts).reshape(shape),
        spreads=np.where(counts > 0, highest - lowest, np.nan).reshape(shape),
        n_failed=_n_failed(
            index, table.columns["trial"][rows], is_scored, is_unjudged[rows], size
        ).reshape(shape),
        _rows=rows[order],
        _starts=np.searchsorted(index[order], np.arange(size + 1)),
    )


def _means(
    places: NDArray[np.int64], values: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    import numpy as np

    sums = np.bincount(places, weights=values, minlength=len(counts))
    means = np.full(len(counts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _n_failed(
    places: NDArray[np.int64],
    trials: NDArray[np.int64],
    is_scored: NDArray[np.bool_],
    is_unjudged: NDArray[np.bool_],
    size: int,
) -> NDArray[np.int64]:
    """Count the trials that failed to run and have no score; see `metrics.N_FAILED`."""
    import numpy as np

    if is_scored.all():
        return np.zeros(size, dtype=np.int64)
    _, numbers = np.unique(trials, return_inverse=True)
    keys = places * (len(trials) + 1) + numbers
    failed = np.flatnonzero(~is_scored & ~is_unjudged)
    has_failed_only = ~np.isin(keys[failed], keys[is_scored])
    return np.bincount(places[failed[has_failed_only]], minlength=size)


class Show(StrEnum):
    """Which tests are of interest; the base is the first LLM."""

    ALL = "all"
    DIFFERENCES = "differences"
    """Not all that were scored scored alike."""
    REGRESSIONS = "regressions"
    """Some LLM scored less than the base."""
    IMPROVEMENTS = "improvements"
    """Some LLM scored more than the base."""
    TIES = "ties"
    """All LLMs were scored, and alike."""
    UNSTABLE = "unstable"
    """The trials of some LLM did not score alike."""
    FORMAT = "format"
    """Some LLM lost score to the form of its answer alone."""
    FAILED = "failed"
    """Some trial failed to run."""


class Facet(StrEnum):
    """What tests are counted by."""

    SHOW = "show"
    """Values are those of `Show`."""
    CLASS = "class"
    LEVEL = "level"
    CAUSE = "cause"
    LATENCY = "latency"
    CHANGE = "change"


_SECONDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LATENCIES = (
    "under 0.3 s", "0.3 to 1 s", "1 to 3 s", "3 to 10 s", "10 to 30 s", "30 to 100 s", "over 100 s",
)  # fmt: skip
"""Bins of the mean latency of all compared."""
CHANGES = ("loss of 0.5 or more", "smaller loss", "equal", "smaller gain", "gain of 0.5 or more")
"""Bins of the largest difference from the baseline."""

Chosen = Mapping[Facet, Collection[str]]
"""Values that are let through; an empty collection lets all through."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridFacets:
    """Which lines of a grid have which value."""

    members: Mapping[Facet, Mapping[str, NDArray[np.bool_]]]
    """Value to a mark for every line; a line may have several causes, or none."""

    def keep(self, lines: NDArray[np.int64], chosen: Chosen) -> NDArray[np.int64]:
        """Select the lines that have one of the chosen values of every facet."""
        for facet, wanted in chosen.items():
            if wanted:
                lines = lines[self._has_any(facet, wanted, lines)]
        return lines

    def count(self, lines: NDArray[np.int64], chosen: Chosen) -> dict[Facet, dict[str, int]]:
        """Count lines by value; each facet under what is chosen of the others."""
        found = {}
        for facet, values in self.members.items():
            others = {name: wanted for name, wanted in chosen.items() if name is not facet}
            kept = self.keep(lines, others)
            found[facet] = {value: int(marks[kept].sum()) for value, marks in values.items()}
        return found

    def _has_any(
        self, facet: Facet, wanted: Collection[str], lines: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        import numpy as np

        found: NDArray[np.bool_] = np.zeros(len(lines), dtype=np.bool_)
        for value in wanted:
            marks = self.members[facet].get(value)
            if marks is not None:
                found |= marks[lines]
        return found


def find_facets(grid: TrialGrid, tests: Mapping[str, Test]) -> GridFacets:
    """Sort the lines of a grid into the values of every facet."""
    known = [tests.get(test_id) for test_id in grid.test_ids]
    return GridFacets(
        members={
            Facet.SHOW: _mark_shows(grid),
            Facet.CLASS: _mark([test.class_id if test else "" for test in known]),
            Facet.LEVEL: _mark([str(test.level) if test else "" for test in known]),
            Facet.CAUSE: grid.mark_causes(),
            Facet.LATENCY: _mark_bins(_find_latencies(grid), LATENCIES),
            Facet.CHANGE: _mark_bins(_find_changes(grid), CHANGES),
        }
    )


def _mark_shows(grid: TrialGrid) -> dict[str, NDArray[np.bool_]]:
    """Mark the lines that are of each interest."""
    import numpy as np

    base, others = grid.scores[:, :1], grid.scores[:, 1:]
    is_empty = np.isnan(grid.scores)
    highest = np.where(is_empty, -np.inf, grid.scores).max(axis=1)
    lowest = np.where(is_empty, np.inf, grid.scores).min(axis=1)
    marks: dict[str, Any] = {
        Show.ALL: np.ones(len(grid.test_ids), dtype=np.bool_),
        Show.DIFFERENCES: highest > lowest,
        Show.REGRESSIONS: (others < base).any(axis=1),
        Show.IMPROVEMENTS: (others > base).any(axis=1),
        Show.TIES: ~is_empty.any(axis=1) & (highest == lowest),
        Show.UNSTABLE: (grid.spreads > 0).any(axis=1),
        Show.FORMAT: (grid.strict_scores < grid.scores).any(axis=1),
        Show.FAILED: (grid.n_failed > 0).any(axis=1),
    }
    return marks


def _mark(values: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    import numpy as np

    column = np.array(values, dtype=object)
    return {value: column == value for value in sorted({*values} - {""}, key=_sort_key)}


def _sort_key(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (0, value)


def _mark_bins(bins: NDArray[Any], names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Mark the lines of each bin; -1 stands for a figure that is not known."""
    return {name: bins == number for number, name in enumerate(names)}


def _find_latencies(grid: TrialGrid) -> NDArray[Any]:
    import numpy as np

    seconds = grid.mean_seconds()
    is_known = ~np.isnan(seconds)
    counts = is_known.sum(axis=1)
    means = np.where(is_known, seconds, 0).sum(axis=1) / np.maximum(1, counts)
    return np.where(counts > 0, np.digitize(means, _SECONDS), -1)


def _find_changes(grid: TrialGrid) -> NDArray[Any]:
    import numpy as np

    changes = grid.scores[:, 1:] - grid.scores[:, :1]
    is_known = ~np.isnan(changes)
    if not changes.size:
        return np.full(len(grid.test_ids), -1)
    sizes = np.where(is_known, np.abs(changes), -1)
    largest = np.take_along_axis(changes, sizes.argmax(axis=1)[:, None], axis=1)[:, 0]
    bins = np.select(
        [largest <= -0.5, largest < -1e-9, largest <= 1e-9, largest < 0.5], [0, 1, 2, 3], 4
    )
    return np.where(is_known.any(axis=1), bins, -1)
