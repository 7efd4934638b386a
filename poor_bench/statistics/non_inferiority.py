"""Non-inferiority on fixed tests: did the score of these very tests drop beyond a tolerance?

The tests are not a sample of others here, so only the scatter between trials of one test counts.
Arrays have tests along their last axis; earlier axes are free, for simulations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING

from poor_bench.statistics.sequential import anytime_margin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ERROR = 0.05
"""Accepted chance of each wrong verdict."""


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
            `anytime_margin`. With looks after each of 20 trials of 60 tests, a change at the
            tolerance passes in at most 7 % and fails in at most 5 %
            (`benchmarks/statistics/gates.py`, error 5 %).
        """
        import numpy as np

        margin = self.compute_margin(error)
        z = NormalDist().inv_cdf(1 - error)
        widened = np.where(self.variance > 0, (margin / z) ** 2, scale**2)
        anytime = anytime_margin(widened, scale=scale, error=error)
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
        ValueError: If there is no test.
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
    variances = np.zeros(1) if is_repeatable else _variances(before, after, difference)
    return Change(
        value=difference.mean(axis=-1),
        variance=variances.sum(axis=-1) / n_tests**2,
        step=steps.mean(axis=-1) / n_tests,
    )


def _variances(
    before: Trials, after: Trials, difference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Estimate the variance of each test's difference."""
    import numpy as np

    repeats_before, repeats_after = np.maximum(before.n - 1, 1), np.maximum(after.n - 1, 1)
    within = before.squares / (np.maximum(before.n, 1) * repeats_before)
    within = within + after.squares / (np.maximum(after.n, 1) * repeats_after)
    return np.where((before.n > 1) & (after.n > 1), within, difference**2)


_ROUNDING = 1e-9


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
