"""Spread of repeated judgements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Several scores of one thing, each 0.0 to 10.0."""

    mean: float
    low: float
    high: float
    n: int
    sd: float | None
    """Standard deviation of the scores; None for a single one."""

    @property
    def width(self) -> float:
        """Highest minus lowest score."""
        return self.high - self.low


def spread_of(scores: Sequence[float]) -> Spread:
    """Compute mean, range and standard deviation of repeated scores.

    Raises:
        ValueError: If there is no score.

    Example:
        >>> spread_of([6.0, 7.0, 8.0])
        Spread(mean=7.0, low=6.0, high=8.0, n=3, sd=1.0)
    """
    if not scores:
        raise ValueError("a spread needs at least one score")
    return Spread(
        mean=statistics.fmean(scores),
        low=min(scores),
        high=max(scores),
        n=len(scores),
        sd=statistics.stdev(scores) if len(scores) > 1 else None,
    )
