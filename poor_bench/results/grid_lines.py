"""Which tests of a grid are listed, by search and interest, and in which order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poor_bench.results.filter_text import Condition, Operator, parse_filter
from poor_bench.results.text_rows import check_pattern, search_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.test import Test
    from poor_bench.results.grid import TrialGrid


def find_lines(grid: TrialGrid, tests: Mapping[str, Test], text: str) -> NDArray[np.int64]:
    """Select the lines of the grid that a search finds, in the order of the grid.

    Args:
        grid: The grid.
        tests: Test id to test.
        text: As `parse_filter` reads it; words are sought in test ids, test texts and responses.

    Raises:
        ConfigError: If the text cannot be read, its pattern is not valid, or takes too long.
    """
    import numpy as np

    sought = parse_filter(text)
    words = sought.words.casefold()
    answered = grid.tests_with(sought.words) if words else set()
    matching = _find_matching(grid, tests, sought.pattern) if sought.pattern else None
    kept = [
        line
        for line, test_id in enumerate(grid.test_ids)
        if (matching is None or line in matching)
        and (not words or line in answered or words in _join_texts(test_id, tests).casefold())
    ]
    lines = np.array(kept, dtype=np.int64)
    for condition in sought.conditions:
        lines = lines[_meets(grid, tests, condition)[lines]]
    return lines


def _find_matching(grid: TrialGrid, tests: Mapping[str, Test], pattern: str) -> set[int]:
    """Find the lines whose tests or answers match a pattern."""
    check_pattern(pattern)
    own = [_join_texts(test_id, tests) for test_id in grid.test_ids]
    return {*search_texts(pattern, own), *grid.tests_with(pattern, is_pattern=True)}


def _meets(grid: TrialGrid, tests: Mapping[str, Test], condition: Condition) -> NDArray[np.bool_]:
    """Mark the lines that meet a typed filter: those of which any model does."""
    import numpy as np

    known = [tests.get(test_id) for test_id in grid.test_ids]
    match condition.field:
        case "class":
            classes = (test.class_id if test else "" for test in known)
            return np.array([condition.is_met_by(class_id) for class_id in classes], dtype=np.bool_)
        case "cause":
            has_cause = np.zeros(len(known), dtype=np.bool_)
            for cause, marks in grid.mark_causes().items():
                has_cause |= marks & condition.is_met_by(cause)
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


def _join_texts(test_id: str, tests: Mapping[str, Test]) -> str:
    """Join the id and the texts of a test, a line each."""
    test = tests.get(test_id)
    return "\n".join((test_id, test.text or "", *(test.texts or ()))) if test else test_id


class GridSort(StrEnum):
    """What tests are sorted by."""

    FILE = "file"
    """Their order in the workspace."""
    TEST = "test"
    CLASS = "class"
    LEVEL = "level"
    SCORE = "score"
    """Mean score of all compared."""
    DIFFERENCE = "difference"
    """The largest loss against the baseline, or, descending, the largest gain."""
    SPREAD = "spread"
    """Widest spread of the scores of the trials of one model."""
    LATENCY = "latency"
    """Mean latency of all compared."""
    FAILED = "failed"
    """Trials that failed to run."""


_BY_MODEL = frozenset({GridSort.SCORE, GridSort.DIFFERENCE, GridSort.SPREAD, GridSort.LATENCY})
_EARLIER = {"drop": "difference", "gain": "-difference", "hardest": "score"}
"""Names of orders in addresses that people have kept."""


def read_order(text: str) -> tuple[GridSort, bool]:
    """Read an order; one that does not exist is that of the file.

    Returns:
        What sorts, and True if descending.

    Example:
        >>> read_order("-score")
        (<GridSort.SCORE: 'score'>, True)
        >>> read_order("drop")
        (<GridSort.DIFFERENCE: 'difference'>, False)
    """
    name = _EARLIER.get(text, text)
    field, is_descending = name.removeprefix("-"), name.startswith("-")
    return (GridSort(field), is_descending) if field in set(GridSort) else (GridSort.FILE, False)


def has_models(sort: GridSort) -> bool:
    """Tell whether an order can be that of one model alone."""
    return sort in _BY_MODEL


def order_lines(
    grid: TrialGrid, lines: NDArray[np.int64], tests: Mapping[str, Test], order: str, of: str = ""
) -> NDArray[np.int64]:
    """Sort lines; those without a value come last, ties stay in the order of the file.

    Args:
        grid: The grid.
        lines: Of it, in the order of the file.
        tests: Test id to test.
        order: As `read_order` reads it.
        of: Subject whose figures sort; empty for all of them.
    """
    import numpy as np

    sort, is_descending = read_order(order)
    keys = _find_keys(grid, tests, sort, of, is_descending=is_descending)[lines]
    is_missing = np.isnan(keys)
    ranks = np.where(is_missing, np.inf, -keys if is_descending else keys)
    return lines[np.argsort(ranks, kind="stable")]


def _find_keys(
    grid: TrialGrid, tests: Mapping[str, Test], sort: GridSort, of: str, *, is_descending: bool
) -> NDArray[np.float64]:
    import numpy as np

    known = [tests.get(test_id) for test_id in grid.test_ids]
    if sort is GridSort.FILE:
        return np.arange(len(known), dtype=np.float64)
    if sort is GridSort.TEST:
        return _rank(grid.test_ids)
    if sort is GridSort.CLASS:
        return _rank([test.class_id if test else "" for test in known])
    if sort is GridSort.LEVEL:
        return np.array([test.level if test else np.nan for test in known], dtype=np.float64)
    if sort is GridSort.FAILED:
        return np.asarray(grid.n_failed.sum(axis=1), dtype=np.float64)
    values = _find_values(grid, sort)
    if of in grid.llm_ids:
        place = grid.llm_ids.index(of)
        values = values[:, place : place + 1]
    elif sort is GridSort.DIFFERENCE:
        values = values[:, 1:]
    return _reduce(values, sort, is_descending=is_descending)


def _find_values(grid: TrialGrid, sort: GridSort) -> NDArray[np.float64]:
    if sort is GridSort.LATENCY:
        return grid.mean_seconds()
    if sort is GridSort.SPREAD:
        return grid.spreads
    if sort is GridSort.DIFFERENCE:
        changes: NDArray[np.float64] = grid.scores - grid.scores[:, :1]
        return changes
    return grid.scores


def _reduce(values: NDArray[Any], sort: GridSort, *, is_descending: bool) -> NDArray[np.float64]:
    """Make one figure of those of several models; NaN where none has it."""
    import numpy as np

    is_known = ~np.isnan(values)
    counts = is_known.sum(axis=1)
    if sort in {GridSort.DIFFERENCE, GridSort.SPREAD}:
        is_highest = is_descending or sort is GridSort.SPREAD
        end = -np.inf if is_highest else np.inf
        held = np.where(is_known, values, end)
        found = held.max(axis=1, initial=end) if is_highest else held.min(axis=1, initial=end)
    else:
        found = np.where(is_known, values, 0).sum(axis=1) / np.maximum(1, counts)
    return np.where(counts > 0, found, np.nan)


def _rank(texts: Sequence[str]) -> NDArray[np.float64]:
    """Number texts by their order, so that they sort as numbers; an empty one has none."""
    import numpy as np

    column = np.array(texts, dtype=str)
    _, codes = np.unique(column, return_inverse=True)
    return np.where(column == "", np.nan, codes.astype(np.float64))
