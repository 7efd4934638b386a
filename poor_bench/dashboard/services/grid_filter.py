"""Which tests of a comparison are shown, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.trial_grid import TrialGrid
    from poor_bench.models.test import Test


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
    """Looked for in test ids, test texts and responses, in any case."""


def lines_of(grid: TrialGrid, tests: Mapping[str, Test], wanted: GridFilter) -> NDArray[np.int64]:
    """Return the lines of the grid that pass a filter, in the order of the grid."""
    import numpy as np

    answered = grid.tests_with(wanted.text) if wanted.text else set()
    kept = [
        line
        for line, test_id in enumerate(grid.test_ids)
        if _is_in_place(tests.get(test_id), wanted)
        and (line in answered or _holds(test_id, tests.get(test_id), wanted.text.casefold()))
    ]
    return np.array(kept, dtype=np.int64)


def _is_in_place(test: Test | None, wanted: GridFilter) -> bool:
    class_id, level = (test.class_id, test.level) if test else ("", 0)
    if wanted.classes and class_id not in wanted.classes:
        return False
    return not wanted.levels or level in wanted.levels


def _holds(test_id: str, test: Test | None, text: str) -> bool:
    own = [test_id, *((test.text or "", *(test.texts or ())) if test else ())]
    return any(text in part.casefold() for part in own)


def of_interest(grid: TrialGrid, lines: NDArray[np.int64], show: Show) -> NDArray[np.int64]:
    """Return those of some lines that show what is asked for."""
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


def ordered(grid: TrialGrid, lines: NDArray[np.int64], order: GridOrder) -> NDArray[np.int64]:
    """Return lines in the order that is asked for; what cannot be ordered comes last."""
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
