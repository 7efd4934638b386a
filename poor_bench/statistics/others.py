"""Models that a screen shows together, as there are too many for a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.statistics.intervals import Estimate


class Others(NamedTuple):
    """Scores of several models in one number; no interval, as models are not a sample."""

    mean: float
    n: int
    """Models with a score."""
    lowest: float
    highest: float


def average_scores(scores: Sequence[Estimate]) -> Others | None:
    """Average the scores of models, each with the same weight; None without any."""
    values = [score.value for score in scores]
    if not values:
        return None
    return Others(sum(values) / len(values), len(values), min(values), max(values))
