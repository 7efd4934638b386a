"""Non-inferiority on fixed tests: did the score of these very tests drop beyond a tolerance?

The tests are not a sample of others here, so only the scatter between trials of one test counts.
Arrays have tests along their last axis; earlier axes are free, for simulations. Limits hold at one
look, or at every look (confidence sequences); a plan says how many trials decide.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

ERROR = 0.05
"""Accepted chance of each wrong verdict."""
ASSUMED_VARIANCE = 0.1
"""Variance between trials of one test where nothing is known: two trials differ in 20 %."""
MOST_TRIALS = 1000
"""More trials of one test than this are not a plan."""
_ITERATIONS = 12
_ROUNDING = 1e-9


def compute_anytime_margins(
    variance: ArrayLike, *, scale: float, error: float = 0.05
) -> NDArray[np.float64]:
    """Compute the distance of one-sided limits from an estimate; valid at all looks together.

    The estimate is compared with each value in question by a likelihood ratio, mixed over
    half-normal alternatives. Its error may have a part that never shrinks, such as that of a stored
    baseline: what is summed up is in effect a Brownian motion at the time `1 / variance`.

    Args:
        variance: Variance of the estimate at this look, above 0. It falls with more trials.
        scale: Standard deviation of the alternatives, above 0: differences of this size are found
            with the fewest trials. It must not depend on the data.
        error: Chance that the true value is ever beyond one of the limits, between 0 and 0.5.

    Returns:
        Distances, as many as variances.

    Raises:
        ValueError: If `scale` or `error` is out of its range.

    Source:
        Robbins 1970, "Statistical methods related to the law of the iterated logarithm", Annals of
        Mathematical Statistics 41 (one-sided normal mixture); with estimated variances:
        Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, "Time-uniform central limit theory
        and asymptotic confidence sequences", Annals of Statistics 52. What it holds for few trials:
        `benchmarks/statistics/gates.py`.

    Example:
        >>> round(float(compute_anytime_margins(0.01, scale=0.1)), 2)
        0.33
    """
    import numpy as np
    from scipy.special import log_ndtr

    if scale <= 0 or not 0 < error < 0.5:
        raise ValueError("scale must be above 0, and error between 0 and 0.5")
    seen = np.asarray(variance, dtype=np.float64)
    ratio = (seen + scale**2) / seen
    base = -math.log(2 * error) + 0.5 * np.log(ratio)
    margin = np.sqrt(2 * base * seen * (seen + scale**2)) / scale
    for _ in range(_ITERATIONS):  # the chance that an alternative is on this side, nearly 1
        side = log_ndtr(margin * scale / np.sqrt(seen * (seen + scale**2)))
        margin = np.sqrt(2 * (base - side) * seen * (seen + scale**2)) / scale
    return np.asarray(margin)


class GateVerdict(StrEnum):
    """How a question of non-inferiority ended."""

    PASSED = "pass"
    """Shown not to be worse by more than the tolerance."""
    FAILED = "fail"
    """Shown to be worse by more than the tolerance."""
    UNDECIDED = "not_enough_evidence"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trials:
    """Trials of some tests on one side; tests along the last axis."""

    n: NDArray[np.float64]
    """Scored trials of each test, at least 0."""
    mean: NDArray[np.float64]
    """Mean score of each test, 0.0 to 1.0; any number without trials."""
    squares: NDArray[np.float64]
    """Sum of the squared deviations of the trials from their mean, at least 0.0."""


def gather_trials(scores: Sequence[Sequence[float]]) -> Trials:
    """Reduce the scores of each test's trials to what the estimates need.

    Args:
        scores: One sequence per test, empty for a test without trials; 0.0 to 1.0.
    """
    import numpy as np

    means = [math.fsum(values) / len(values) if values else 0.0 for values in scores]
    squares = [
        math.fsum((value - mean) ** 2 for value in values)
        for values, mean in zip(scores, means, strict=True)
    ]
    counts = [float(len(values)) for values in scores]
    return Trials(n=np.array(counts), mean=np.array(means), squares=np.array(squares))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """Change of the mean score of fixed tests, and what its error depends on."""

    value: NDArray[np.float64]
    """After minus before, -1.0 to 1.0."""
    variance: NDArray[np.float64]
    """Estimated variance of `value` by the scatter between trials, at least 0.0."""
    step: NDArray[np.float64]
    """Change of `value` by one trial that turns from 0 to 1; 0.0 where no trial is new."""

    def compute_margin(self, error: float = ERROR) -> NDArray[np.float64]:
        """Compute the distance of the one-sided limits from `value`; valid at one look.

        The limit is that of the normal distribution, widened so that it is the exact Poisson limit
        (the "rule of three") where all trials agree and the variance is estimated as zero.

        Args:
            error: Chance that the true change is beyond one of the limits, between 0 and 0.5.

        Source:
            The variance under a change `g` from what was seen is at most
            `(v + sqrt(v**2 + (2 step g)**2)) / 2`, the maximum of the likelihood of two Poisson
            counts with that difference (as Tango 1998, Statistics in Medicine 17, for paired
            shares). Solved for `g` it is this sum of squares. At the tolerance itself each wrong
            verdict happens in at most 7 %, and failures of an unchanged model in at most 2.5 %,
            for 10 to 200 tests (`benchmarks/statistics/gates.py`, error 5 %).
        """
        import numpy as np

        z = NormalDist().inv_cdf(1 - error)
        return np.hypot(z * np.sqrt(self.variance), -math.log(error) * self.step)

    def compute_anytime_margin(self, scale: float, error: float = ERROR) -> NDArray[np.float64]:
        """Compute the distance of the one-sided limits from `value`; valid at all looks together.

        While no trial differs from another, the limit is that of one look: such a streak can only
        end, so that looking again adds no chance to err.

        Args:
            scale: Change that is to be found with the fewest trials, above 0.0.
            error: Chance that the true change is ever beyond one of the limits, between 0 and 0.5.

        Source:
            `compute_anytime_margins`. With looks after each of 20 trials of 60 tests, a change at
            the tolerance passes in at most 7 % and fails in at most 5 %
            (`benchmarks/statistics/gates.py`, error 5 %).
        """
        import numpy as np

        margin = self.compute_margin(error)
        z = NormalDist().inv_cdf(1 - error)
        widened = np.where(self.variance > 0, (margin / z) ** 2, scale**2)
        anytime = compute_anytime_margins(widened, scale=scale, error=error)
        return np.where(self.variance > 0, anytime, margin)


def measure_change(before: Trials, after: Trials, *, is_repeatable: bool = False) -> Change:
    """Estimate the change of the mean score of fixed tests.

    Where both sides have at least 2 trials of a test, its variance is that between its trials.
    Otherwise it is the squared difference of its means: unbiased where nothing changed, and too
    large where the test changed, so never too small on average.

    Args:
        before: At least 1 trial of each test.
        after: As many tests. A test without trials was not asked again: it did not change.
        is_repeatable: Whether every test was repeated on a side and no answer ever differed. Then
            the variance is zero.

    Raises:
        ValueError: If no test is given.
    """
    import numpy as np

    n_tests = before.n.shape[-1]
    if n_tests == 0:
        raise ValueError("at least one test is required")
    is_new = after.n > 0
    counts_after = np.maximum(after.n, 1)
    difference = np.where(is_new, after.mean - before.mean, 0.0)
    fewest = np.maximum if is_repeatable else np.minimum
    steps = np.where(is_new, 1 / fewest(before.n, counts_after), 0.0)
    variances = np.zeros(1) if is_repeatable else _compute_variances(before, after, difference)
    return Change(
        value=difference.mean(axis=-1),
        variance=variances.sum(axis=-1) / n_tests**2,
        step=steps.mean(axis=-1) / n_tests,
    )


def _compute_variances(
    before: Trials, after: Trials, difference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Estimate the variance of each test's difference."""
    import numpy as np

    repeats_before, repeats_after = np.maximum(before.n - 1, 1), np.maximum(after.n - 1, 1)
    within = before.squares / (np.maximum(before.n, 1) * repeats_before)
    within = within + after.squares / (np.maximum(after.n, 1) * repeats_after)
    return np.where((before.n > 1) & (after.n > 1), within, difference**2)


def decide(low: float, high: float, tolerance: float) -> GateVerdict:
    """Decide by the limits of the change.

    Args:
        low: Lower one-sided limit of the change.
        high: Upper one-sided limit.
        tolerance: Largest drop that is accepted, 0.0 to 1.0.

    Returns:
        A pass where even the lower limit is within the tolerance, a fail where even the upper one
        is beyond it.

    Example:
        >>> decide(-0.03, 0.02, tolerance=0.05).value, decide(-0.3, -0.1, tolerance=0.05).value
        ('pass', 'fail')
    """
    if low >= -tolerance - _ROUNDING:
        return GateVerdict.PASSED
    return GateVerdict.FAILED if high < -tolerance - _ROUNDING else GateVerdict.UNDECIDED


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
        return self._compute_chance(self.tolerance, 0.0, n_trials)

    def chance_of_fail(self, n_trials: int, drop: float) -> float:
        """Chance of a fail with so many trials per test if the score drops by `drop`."""
        return self._compute_chance(drop - self.tolerance, drop, n_trials)

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

    def _compute_chance(self, distance: float, drop: float, n_trials: int) -> float:
        """Chance that a limit is on the right side of something at a true distance."""
        n_before = n_trials if self.n_before is None else self.n_before
        variance = self.variance / n_before + self._compute_variance_after(drop) / n_trials
        deviation = math.sqrt(variance / self.n_tests)
        z = NormalDist().inv_cdf(1 - self.error)
        step = 1 / (min(n_trials, n_before) * self.n_tests)
        left = distance - math.hypot(z * deviation, math.log(self.error) * step)
        return NormalDist().cdf(left / deviation) if deviation else float(left >= -_ROUNDING)

    def _compute_variance_after(self, drop: float) -> float:
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
