"""Plan the trials of a non-inferiority check: its chances before it is run."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple

from poor_bench.statistics.non_inferiority import ERROR, Trials

ASSUMED_VARIANCE = 0.1
"""Variance between trials of one test where nothing is known: two trials differ in 20 %."""
MOST_TRIALS = 1000
"""More trials of one test than this are not a plan."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """A check of fixed tests that is still to be run; chances by the normal approximation.

    They hold for a drop that is spread over the tests, and for scores of 0 or 1; fractional scores
    scatter less after a drop. A drop that breaks a few tests for good is found as easily with at
    least 2 trials on both sides, and less easily with one, which cannot tell it from chance.
    """

    n_tests: int
    """At least 1."""
    variance: float
    """Mean variance between trials of one test in the baseline, at least 0.0."""
    tolerance: float
    """Largest drop that is accepted, 0.0 to 1.0."""
    mean: float = 1.0
    """Mean score of the baseline, above 0.0 to 1.0. The higher it is, the more trials scatter after
    a drop; 1.0 is the worst case."""
    n_before: float | None = None
    """Trials of each test in the baseline, at least 1; None for as many as are planned."""
    error: float = ERROR

    def chance_of_pass(self, n_trials: int) -> float:
        """Chance that an unchanged model passes with so many trials per test."""
        return self._chance(self.tolerance, 0.0, n_trials)

    def chance_of_fail(self, n_trials: int, drop: float) -> float:
        """Chance of a fail with so many trials per test if the score drops by `drop`."""
        return self._chance(drop - self.tolerance, drop, n_trials)

    def find_drop(self, n_trials: int, power: float = 0.8) -> float | None:
        """Find the smallest drop that so many trials show with a chance of `power`.

        Returns:
            A drop of the mean score, to 0.001; None where none is shown.
        """
        drops = range(round(self.tolerance * 1000), round(self.mean * 1000) + 1)
        place = bisect_left(
            drops, power, key=lambda drop: self.chance_of_fail(n_trials, drop / 1000)
        )
        return drops[place] / 1000 if place < len(drops) else None

    def find_trials_to_pass(self, power: float = 0.8) -> int | None:
        """Find the fewest trials with which an unchanged model passes with a chance of `power`.

        Returns:
            At least 1; None where not even `MOST_TRIALS` are enough, since the baseline has too
            few, or the tolerance is too small.
        """
        return _find_fewest(self.chance_of_pass, power)

    def find_trials_to_fail(self, drop: float, power: float = 0.8) -> int | None:
        """Find the fewest trials that show a drop with a chance of `power`.

        Returns:
            As `find_trials_to_pass`; None also where the drop is within the tolerance.
        """
        if drop <= self.tolerance:
            return None
        return _find_fewest(lambda n_trials: self.chance_of_fail(n_trials, drop), power)

    def _chance(self, distance: float, drop: float, n_trials: int) -> float:
        """Chance that a limit is on the right side of something at a true distance."""
        n_before = n_trials if self.n_before is None else self.n_before
        variance = self.variance / n_before + self._variance_after(drop) / n_trials
        deviation = math.sqrt(variance / self.n_tests)
        z = NormalDist().inv_cdf(1 - self.error)
        step = 1 / (min(n_trials, n_before) * self.n_tests)
        left = distance - math.hypot(z * deviation, math.log(self.error) * step)
        return NormalDist().cdf(left / deviation) if deviation else float(left >= -_ROUNDING)

    def _variance_after(self, drop: float) -> float:
        """Variance if the chance of each test to pass drops in proportion."""
        kept = max(0.0, 1 - drop / self.mean)
        return kept * drop + kept**2 * self.variance


def _find_fewest(chance: Callable[[int], float], power: float) -> int | None:
    """Find the fewest trials with a chance; it rises with them."""
    numbers = range(1, MOST_TRIALS + 1)
    place = bisect_left(numbers, power, key=chance)
    return numbers[place] if place < len(numbers) else None


class VarianceSource(StrEnum):
    """What a variance between trials rests on."""

    REPEATS = "repeats"
    """Tests that were tried more than once."""
    PAIRS = "pairs"
    """Tests with one trial on both sides; too large where tests changed."""
    ASSUMED = "assumed"
    """No test was tried twice."""


class TrialVariance(NamedTuple):
    """Mean variance between trials of one test."""

    value: float
    """At least 0.0."""
    source: VarianceSource


def estimate_trial_variance(before: Trials, after: Trials) -> TrialVariance:
    """Estimate the mean variance between trials of one test, by the best evidence there is."""
    import numpy as np

    repeats = np.maximum(before.n - 1, 0).sum() + np.maximum(after.n - 1, 0).sum()
    if repeats:
        squares = before.squares.sum() + after.squares.sum()
        return TrialVariance(float(squares / repeats), VarianceSource.REPEATS)
    paired = (before.n > 0) & (after.n > 0)
    if not paired.any():
        return TrialVariance(ASSUMED_VARIANCE, VarianceSource.ASSUMED)
    squares = ((after.mean - before.mean)[paired] ** 2).mean()
    return TrialVariance(float(squares / 2), VarianceSource.PAIRS)
