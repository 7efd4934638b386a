"""Chosen models side by side: a grid of tests and models, its filters and its order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from poor_bench.errors import ConfigError
from poor_bench.results.filter_text import Condition, Operator, parse_filter
from poor_bench.results.text_rows import check_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        return self._lines_of(places)

    def mark_causes(self) -> dict[str, NDArray[np.bool_]]:
        """Mark for each cause of lost score the lines with a trial that lost score for it."""
        import numpy as np

        known = self.table.text_columns(self._rows, ["cause"])
        places: dict[str, list[int]] = {}
        for place, (cause,) in enumerate(known):
            if cause:
                places.setdefault(cause, []).append(place)
        marked = {cause: np.zeros(len(self.test_ids), dtype=np.bool_) for cause in sorted(places)}
        for cause, marks in marked.items():
            marks[list(self._lines_of(np.array(places[cause])))] = True
        return marked

    def mean_seconds(self) -> NDArray[np.float64]:
        """Compute the mean execution time of every cell; NaN where it is not known."""
        import numpy as np

        lengths = np.diff(self._starts)
        cells = np.repeat(np.arange(len(lengths)), lengths)
        times = self.table.columns["execution_time_ms"][self._rows]
        is_known = ~np.isnan(times)
        counts = np.bincount(cells[is_known], minlength=len(lengths))
        means = _means(cells[is_known], times[is_known], counts) / 1000
        return means.reshape(self.scores.shape)

    def _lines_of(self, places: NDArray[np.int64]) -> set[int]:
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
        n_failed=_n_failed(index, table.columns["trial"][rows], is_scored, size).reshape(shape),
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
    size: int,
) -> NDArray[np.int64]:
    """Count the trials that have a failure and no score; see `TrialCounts`."""
    import numpy as np

    _, numbers = np.unique(trials, return_inverse=True)
    keys = places * (len(trials) + 1) + numbers
    has_failed_only = ~is_scored & ~np.isin(keys, keys[is_scored])
    return np.bincount(places[has_failed_only], minlength=size)


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


class GridOrder(StrEnum):
    """What the tests are ordered by."""

    FILE = "file"
    DROP = "drop"
    """The largest loss against the base first."""
    GAIN = "gain"
    """The largest gain over the base first."""
    HARDEST = "hardest"
    """The lowest mean score first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridFilter:
    """Filters of a comparison; an empty one lets everything through."""

    classes: frozenset[str] = frozenset()
    levels: frozenset[int] = frozenset()
    text: str = ""
    """As `parse_filter` reads it; words are sought in test ids, test texts and responses."""


def find_lines(grid: TrialGrid, tests: Mapping[str, Test], wanted: GridFilter) -> NDArray[np.int64]:
    """Select the lines of the grid that pass a filter, in the order of the grid.

    Raises:
        ConfigError: If the text of the filter cannot be read, or its pattern is not valid.
    """
    import numpy as np

    sought = parse_filter(wanted.text)
    words = sought.words.casefold()
    answered = grid.tests_with(sought.words) if words else set()
    matching = _find_matching(grid, tests, sought.pattern) if sought.pattern else None
    kept = [
        line
        for line, test_id in enumerate(grid.test_ids)
        if _is_in_place(tests.get(test_id), wanted)
        and (matching is None or line in matching)
        and (line in answered or _holds(test_id, tests.get(test_id), words))
    ]
    lines = np.array(kept, dtype=np.int64)
    for condition in sought.conditions:
        lines = lines[_meets(grid, tests, condition)[lines]]
    return lines


_PATTERN_S = 0.2
"""Longest search for a pattern in the texts of the tests, in seconds."""


def _find_matching(grid: TrialGrid, tests: Mapping[str, Test], pattern: str) -> set[int]:
    """Find the lines whose tests or answers match a pattern."""
    import regex

    check_pattern(pattern)
    found = grid.tests_with(pattern, is_pattern=True)
    try:
        compiled = regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)
        for line, test_id in enumerate(grid.test_ids):
            own = "\n".join(_list_texts(test_id, tests.get(test_id)))
            if line not in found and compiled.search(own, timeout=_PATTERN_S):
                found.add(line)
    except (regex.error, TimeoutError) as error:
        raise ConfigError(
            f"/{pattern:.100}/ cannot be searched: {error or 'it takes too long'}",
            hint="Use a simpler pattern.",
        ) from error
    return found


def _meets(grid: TrialGrid, tests: Mapping[str, Test], condition: Condition) -> NDArray[np.bool_]:
    """Mark the lines that meet a typed filter: those of which any model does."""
    import numpy as np

    known = [tests.get(test_id) for test_id in grid.test_ids]
    match condition.field:
        case "class":
            value = condition.value.casefold()
            return np.array([value in (test.class_id.casefold() if test else "") for test in known])
        case "cause":
            value = condition.value.casefold()
            has_cause = np.zeros(len(known), dtype=np.bool_)
            for cause, marks in grid.mark_causes().items():
                has_cause |= marks & (value in cause.casefold())
            return has_cause
        case "level":
            values = np.array([[test.level if test else np.nan] for test in known], dtype=float)
        case "difference":
            values = grid.scores[:, 1:] - grid.scores[:, :1]
        case "latency":
            values = grid.mean_seconds()
        case _:
            values = grid.scores
    is_met: NDArray[np.bool_] = _COMPARE[condition.operator](values, condition.number).any(axis=1)
    return is_met


_COMPARE: Mapping[Operator, Callable[[Any, float], Any]] = {
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.EQUAL: operator.eq,
    Operator.HOLDS: operator.eq,
}


def _is_in_place(test: Test | None, wanted: GridFilter) -> bool:
    class_id, level = (test.class_id, test.level) if test else ("", 0)
    if wanted.classes and class_id not in wanted.classes:
        return False
    return not wanted.levels or level in wanted.levels


def _holds(test_id: str, test: Test | None, text: str) -> bool:
    return any(text in part.casefold() for part in _list_texts(test_id, test))


def _list_texts(test_id: str, test: Test | None) -> list[str]:
    return [test_id, *((test.text or "", *(test.texts or ())) if test else ())]


def of_interest(grid: TrialGrid, lines: NDArray[np.int64], show: Show) -> NDArray[np.int64]:
    """Select the lines that show what is asked for."""
    import numpy as np

    kept: NDArray[np.int64] = lines[np.asarray(_mask(grid, show), dtype=np.bool_)[lines]]
    return kept


def _mask(grid: TrialGrid, show: Show) -> Any:
    import numpy as np

    base, others = grid.scores[:, :1], grid.scores[:, 1:]
    is_empty = np.isnan(grid.scores)
    highest = np.where(is_empty, -np.inf, grid.scores).max(axis=1)
    lowest = np.where(is_empty, np.inf, grid.scores).min(axis=1)
    found: Any
    match show:
        case Show.ALL:
            found = np.ones(len(grid.test_ids), dtype=np.bool_)
        case Show.DIFFERENCES:
            found = highest > lowest
        case Show.REGRESSIONS:
            found = (others < base).any(axis=1)
        case Show.IMPROVEMENTS:
            found = (others > base).any(axis=1)
        case Show.TIES:
            found = ~is_empty.any(axis=1) & (highest == lowest)
        case Show.UNSTABLE:
            found = (grid.spreads > 0).any(axis=1)
        case Show.FORMAT:
            found = (grid.strict_scores < grid.scores).any(axis=1)
        case Show.FAILED:
            found = (grid.n_failed > 0).any(axis=1)
        case _:
            assert_never(show)
    return found


def order_lines(grid: TrialGrid, lines: NDArray[np.int64], order: GridOrder) -> NDArray[np.int64]:
    """Sort lines; those that cannot be ordered come last."""
    import numpy as np

    if order is GridOrder.FILE:
        return lines
    scores = grid.scores[lines]
    changes = scores[:, 1:] - scores[:, :1]
    if order is GridOrder.HARDEST:
        keys = np.where(np.isnan(scores), 0, scores).sum(axis=1) / np.maximum(
            1, (~np.isnan(scores)).sum(axis=1)
        )
    elif order is GridOrder.DROP:
        keys = np.where(np.isnan(changes), np.inf, changes).min(axis=1, initial=np.inf)
    else:
        keys = np.where(np.isnan(changes), np.inf, -changes).min(axis=1, initial=np.inf)
    return lines[np.argsort(keys, kind="stable")]
