"""Tests of a grid by class, level, cause, latency and difference: what charts count and filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.test import Test
    from poor_bench.results.grid import TrialGrid


class Facet(StrEnum):
    """What tests are counted by."""

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
            Facet.CLASS: _mark([test.class_id if test else "" for test in known]),
            Facet.LEVEL: _mark([str(test.level) if test else "" for test in known]),
            Facet.CAUSE: grid.mark_causes(),
            Facet.LATENCY: _mark_bins(_find_latencies(grid), LATENCIES),
            Facet.CHANGE: _mark_bins(_find_changes(grid), CHANGES),
        }
    )


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
