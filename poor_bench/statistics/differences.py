"""Differences of paired scores with 95 % intervals that hold for few tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poor_bench.statistics.groups import number_groups
from poor_bench.statistics.intervals import Estimate, t_quantile_95


def estimate_paired_difference(
    differences: Sequence[float], groups: Sequence[str | None] | None = None
) -> Estimate:
    """Compute the mean of paired differences with a 95 % interval that holds for few tests.

    Two tests are added in thought, one won and one lost by the typical size of a difference (by a
    whole point where none was seen). So identical scores do not claim that two LLMs are the same.
    In simulation the interval covers 94 % to 100 % from 6 tests on, where the bootstrap's covers as
    little as 39 % at 6 tests, 87 % at 30 and 92 % at 150.

    Args:
        differences: One score difference per common test, each -1.0 to 1.0, at least one.
        groups: Group of each test, as in `number_groups`; tests of one group are not independent.

    Returns:
        Mean and interval, all within -1.0 to 1.0; `n` is the number of groups.

    Raises:
        ValueError: If there is no difference, or one is out of range.

    Source:
        Bonett and Price 2012, "Adjusted Wald confidence interval for a difference of binomial
        proportions based on paired data", Journal of Educational and Behavioral Statistics 37;
        carried over here to graded scores, with Student's quantile.

    Example:
        >>> estimate = estimate_paired_difference([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
        (0.25, -0.25, 0.65)
    """
    n = len(differences)
    if n == 0 or not all(-1 <= difference <= 1 for difference in differences):
        raise ValueError("there must be at least one difference, each from -1 to 1")
    units = number_groups(n, groups)
    if (n_units := max(units) + 1) < n:
        return _difference_of_groups(differences, units, n_units)
    total = math.fsum(differences)
    squares = math.fsum(difference**2 for difference in differences)
    changed = sum(difference != 0 for difference in differences)
    squares += 2 * (squares / changed if changed else 1.0)
    centre = total / (n + 2)
    variance = max(0.0, squares - (n + 2) * centre**2) / (n + 1)
    half = t_quantile_95(n + 1) * math.sqrt(variance / (n + 2))
    mean = total / n
    low, high = min(mean, centre - half), max(mean, centre + half)
    return Estimate(value=mean, low=max(-1.0, low), high=min(1.0, high), n=n)


def _difference_of_groups(
    differences: Sequence[float], units: Sequence[int], n_units: int
) -> Estimate:
    n = len(differences)
    mean = math.fsum(differences) / n
    excesses = [0.0] * n_units
    for unit, difference in zip(units, differences, strict=True):
        excesses[unit] += difference - mean
    alone = estimate_paired_difference(differences)
    if n_units < 2:
        return Estimate(value=mean, low=-1.0, high=1.0, n=n_units, n_tests=n)
    squares = math.fsum(excess**2 for excess in excesses) * n_units / (n_units - 1)
    half = t_quantile_95(n_units - 1) * math.sqrt(squares) / n
    low, high = min(alone.low, mean - half), max(alone.high, mean + half)
    return Estimate(value=mean, low=max(-1.0, low), high=min(1.0, high), n=n_units, n_tests=n)


def bootstrap_interval(
    differences: Sequence[float], *, n_resamples: int = 9999, seed: int = 0
) -> Estimate:
    """Compute the mean of paired differences with its bootstrap interval (95 %, BCa).

    For comparison with other tools; it is too narrow below some 60 tests
    (see `estimate_paired_difference`).

    Args:
        differences: One score difference per common test, at least one.
        n_resamples: How often to draw tests with replacement, at least 1.
        seed: Of the draws.

    Returns:
        Mean and interval; of no width where all differences are equal.

    Raises:
        ValueError: If there is no difference.

    Source:
        Efron 1987, "Better bootstrap confidence intervals", Journal of the American Statistical
        Association 82; computed by `scipy.stats.bootstrap`.

    Example:
        >>> estimate = bootstrap_interval([0.1, 0.3, 0.2, 0.4, 0.0, 0.2] * 5)
        >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2)
        (0.2, 0.16, 0.25)
    """
    import numpy as np
    from scipy import stats

    values = np.asarray(differences, dtype=np.float64)
    if values.size == 0:
        raise ValueError("there must be at least one difference")
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return Estimate(value=mean, low=mean, high=mean, n=values.size)
    interval = stats.bootstrap(
        (values,), np.mean, n_resamples=n_resamples, batch=500, rng=np.random.default_rng(seed)
    ).confidence_interval
    return Estimate(value=mean, low=float(interval.low), high=float(interval.high), n=values.size)
