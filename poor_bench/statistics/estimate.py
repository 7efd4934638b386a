"""A figure with the interval that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimated figure with its 95 % confidence interval, `low <= value <= high`."""

    value: float
    low: float
    high: float
    n: int
    """How many independent units it rests on: tests, not trials of tests."""

    @property
    def margin(self) -> float:
        """Half the width of the interval, at least 0."""
        return (self.high - self.low) / 2
