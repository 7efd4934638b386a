"""Tests that share a template, passage or original, and how far their mean may be off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poor_bench.models.test import Test


def number_groups(n_tests: int, groups: Sequence[str | None] | None) -> list[int]:
    """Number the independent units behind the tests.

    Args:
        n_tests: Number of tests.
        groups: Name of each test's group; None for a test that is a group of its own. None in all
            stands for tests that are all independent.

    Returns:
        Number of each test's group, from 0 on, in order of first appearance.

    Raises:
        ValueError: If there are not as many names as tests.

    Example:
        >>> number_groups(4, ["a", None, "a", None])
        [0, 1, 0, 2]
    """
    if groups is None:
        return list(range(n_tests))
    if len(groups) != n_tests:
        raise ValueError(f"{len(groups)} groups for {n_tests} tests")
    numbers: dict[str | int, int] = {}
    return [
        numbers.setdefault(place if name is None else name, len(numbers))
        for place, name in enumerate(groups)
    ]


def groups_of(test_ids: Iterable[str], tests: Mapping[str, Test]) -> list[str | None] | None:
    """Find the group of each test; None in all where no test has one, or none is known."""
    found = [test.group if (test := tests.get(test_id)) else None for test_id in test_ids]
    return found if any(found) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How much the mean of some values varies, if their groups were drawn anew."""

    mean: float
    variance: float
    """Of the mean, at least 0.0; 0.0 too where one group alone does not tell."""
    freedom: float
    """Degrees of freedom of the variance, at least 1.0."""
    skew: float
    """Skewness of the mean, -1.0 to 1.0: third central moment by the variance to the 1.5th."""
    n_groups: int
    n_effective: float
    """Independent tests that would tell as much, from `n_groups` to the number of tests."""


def measure_spread(values: Sequence[float], groups: Sequence[str | None] | None = None) -> Spread:
    """Measure how much the mean of the values varies, tests of one group together.

    The variance is the cluster-robust one, corrected for the few groups by what it would be on
    average if all pairs of tests within a group were as alike as the values say. Its degrees of
    freedom follow from the same model, so that uneven groups have fewer.

    Args:
        values: One number per test, at least one.
        groups: Group of each test, as in `number_groups`.

    Raises:
        ValueError: If there is no value, or not a group for each.

    Source:
        Bell and McCaffrey 2002, "Bias reduction in standard errors for linear regression with
        multi-stage samples", Survey Methodology 28; within-group correlation by moments: Kish
        1965, "Survey Sampling", 5.4.

    Example:
        >>> spread = measure_spread([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])
        >>> spread.variance, spread.freedom, spread.n_effective
        (0.25, 1.0, 2.0)
    """
    n = len(values)
    if n == 0:
        raise ValueError("a mean needs at least one value")
    units = number_groups(n, groups)
    n_groups = max(units) + 1
    mean = math.fsum(values) / n
    sizes, excesses = [0] * n_groups, [0.0] * n_groups
    for unit, value in zip(units, values, strict=True):
        sizes[unit] += 1
        excesses[unit] += value - mean
    squares = math.fsum((value - mean) ** 2 for value in values)
    between = math.fsum(excess**2 for excess in excesses)
    variance, freedom, n_effective = 0.0, 1.0, float(n_groups)
    if n_groups > 1 and squares > 1e-12 * n:
        alone = squares * n / (n - 1)
        variance, freedom, n_effective = _correct(sizes, between, alone)
    cubes = math.fsum(excess**3 for excess in excesses)
    skew = cubes / between**1.5 if between > 1e-12 * n else 0.0
    return Spread(
        mean=mean,
        variance=variance / n**2,
        freedom=freedom,
        skew=skew,
        n_groups=n_groups,
        n_effective=n_effective,
    )


_LEAST_SHARE = 0.25
"""Of the variance of independent tests: groups that balance each other by chance claim no more."""


def _correct(sizes: Sequence[int], between: float, alone: float) -> tuple[float, float, float]:
    """Compute the variance of the sum, its degrees of freedom and the effective number of tests.

    Args:
        sizes: Tests of each group, at least two groups.
        between: Sum over groups of the squared sum of deviations.
        alone: Variance of the sum if all tests were independent, above 0.
    """
    n, n_groups = sum(sizes), len(sizes)
    if n == n_groups:
        return alone, n - 1.0, float(n)
    inflation = between * n_groups / (n_groups - 1) / alone
    alike = min(1.0, max(0.0, (inflation - 1) / (math.fsum(size**2 for size in sizes) / n - 1)))
    variances = [size + alike * size * (size - 1) for size in sizes]
    total = math.fsum(variances)
    trace, squared = _expect_squares(sizes, variances)
    variance = max(between * total / trace, _LEAST_SHARE * alone)
    return variance, max(1.0, trace**2 / squared), n**2 / total


def _expect_squares(sizes: Sequence[int], variances: Sequence[float]) -> tuple[float, float]:
    """Compute mean and half the variance of the sum of squared deviations of groups.

    They are trace(W) and trace(W²), with W = V^½ (I - 1h') (I - h1') V^½, `V` the variances of
    the groups' sums and `h` the groups' shares of the tests.
    """
    n = sum(sizes)
    shares = [size / n for size in sizes]
    total = math.fsum(variances)
    same = math.fsum(share**2 for share in shares)
    once = math.fsum(v * share for v, share in zip(variances, shares, strict=True))
    twice = math.fsum(v * share**2 for v, share in zip(variances, shares, strict=True))
    own = math.fsum(v**2 for v in variances)
    own_once = math.fsum(v**2 * share for v, share in zip(variances, shares, strict=True))
    trace = total - 2 * once + same * total
    squared = own + 2 * (same * own - 2 * own_once)
    squared += 2 * once**2 + 2 * twice * total - 4 * same * once * total + (same * total) ** 2
    return trace, squared
