"""Tests that share a template, passage or original, and how far their mean may be off."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.models.test import Test
from poor_bench.statistics.few_groups import FEW, blend_few_groups, compute_few_groups_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


def find_groups(test_ids: Iterable[str], tests: Mapping[str, Test]) -> list[str | None] | None:
    """Find the group of each test; None in all where no test has one, or none is known."""
    found = [test.group if (test := tests.get(test_id)) else None for test_id in test_ids]
    return found if any(found) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums over the values of some tests, which intervals of their mean follow from."""

    sizes: Mapping[int, int]
    """Tests of a group to how many groups have as many."""
    mean: float
    squares: float
    """Sum over tests of the squared deviations from the mean."""
    between: float
    """Sum over groups of the squared sum of deviations."""
    cubes: float
    """Sum over groups of the cubed sum of deviations."""
    lowest: float
    highest: float
    n_nonzero: int
    """Values other than 0.0."""
    is_whole: bool
    """True if each value is -1, 0 or 1."""
    groups: Sequence[tuple[int, float]] = ()
    """Tests and mean of each group, where tests are in a few (`FEW`) groups."""

    @property
    def n_tests(self) -> int:
        """Number of values."""
        return sum(size * count for size, count in self.sizes.items())

    @property
    def n_groups(self) -> int:
        """Number of independent units."""
        return sum(self.sizes.values())

    def mirror(self) -> Sums:
        """Change the sign of all values."""
        return replace(
            self,
            mean=-self.mean,
            cubes=-self.cubes,
            lowest=-self.highest,
            highest=-self.lowest,
            groups=[(size, -mean) for size, mean in self.groups],
        )


def sum_values(values: Sequence[float], groups: Sequence[str | None] | None = None) -> Sums:
    """Sum values up, without rounding errors.

    Args:
        values: One number per test, at least one.
        groups: Group of each test, as in `number_groups`.

    Raises:
        ValueError: If no value is given, or not a group for each.
    """
    n = len(values)
    if n == 0:
        raise ValueError("a mean needs at least one value")
    counts = Counter(values)
    is_whole = counts.keys() <= _WHOLE
    if groups is None and is_whole:
        return _sum_whole(counts)
    mean = math.fsum(values) / n
    squares = between = _sum_powers(values, counts, mean, 2)
    sizes: Mapping[int, int] = {1: n}
    described: Sequence[tuple[int, float]] = ()
    if groups is None or (len(groups) == n and groups.count(None) == n):
        cubes = _sum_powers(values, counts, mean, 3)
    else:
        excesses = [value - mean for value in values]
        of_units, excesses = _sum_units(excesses, number_groups(n, groups))
        between = math.fsum(excess**2 for excess in excesses)
        cubes = math.fsum(excess**3 for excess in excesses)
        described = _describe_groups(of_units, excesses, mean) if len(of_units) < n else ()
        sizes = Counter(of_units)
    return Sums(
        sizes=sizes,
        mean=mean,
        squares=squares,
        between=between,
        cubes=cubes,
        lowest=min(counts),
        highest=max(counts),
        n_nonzero=n - counts.get(0.0, 0),
        is_whole=is_whole,
        groups=described,
    )


def _sum_powers(
    values: Sequence[float], distinct: Iterable[float], mean: float, exponent: int
) -> float:
    """Sum powers of the deviations from the mean up, each worked out once."""
    powers = {value: (value - mean) ** exponent for value in distinct}
    return math.fsum(map(powers.__getitem__, values))


_WHOLE = frozenset({-1.0, 0.0, 1.0})


def _sum_whole(counts: Mapping[float, int]) -> Sums:
    """Sum up values of independent tests of which each is -1, 0 or 1, by how often each occurs."""
    n = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / n
    squares = math.fsum(count * (value - mean) ** 2 for value, count in counts.items())
    return Sums(
        sizes={1: n},
        mean=mean,
        squares=squares,
        between=squares,
        cubes=math.fsum(count * (value - mean) ** 3 for value, count in counts.items()),
        lowest=min(counts),
        highest=max(counts),
        n_nonzero=n - counts.get(0.0, 0),
        is_whole=True,
    )


def sum_if_whole(values: NDArray[np.float64]) -> Sums | None:
    """Do what `sum_values` does with independent tests that all score 0 or 1; None for others."""
    import numpy as np

    n_zero, n_one = len(values) - np.count_nonzero(values), np.count_nonzero(values == 1.0)
    counts = {value: int(n) for value, n in ((0.0, n_zero), (1.0, n_one)) if n}
    return _sum_whole(counts) if counts and n_zero + n_one == len(values) else None


def _sum_units(excesses: Sequence[float], units: Sequence[int]) -> tuple[list[int], list[float]]:
    """Count the tests of each unit, and sum their deviations from the mean up."""
    n_units = max(units) + 1
    sizes, sums = [0] * n_units, [0.0] * n_units
    for unit, excess in zip(units, excesses, strict=True):
        sizes[unit] += 1
        sums[unit] += excess
    return sizes, sums


def sum_array(values: NDArray[np.float64], units: NDArray[np.int64] | None = None) -> Sums:
    """Sum the values of many tests up; the same as `sum_values` but for rounding errors.

    Args:
        values: One number per test, at least one.
        units: Number of each test's group, at least 0; not all numbers need to occur. None for
            independent tests.
    """
    import numpy as np

    mean = float(values.mean())
    excesses = values - mean
    squares = float((excesses**2).sum())  # not `@`, whose threads take longer to start than this
    sizes, groups = {1: len(values)}, []
    if units is not None:
        counts = np.bincount(units)
        excesses = np.bincount(units, excesses)[counts > 0].astype(np.float64)
        counts = counts[counts > 0]
        found = np.unique(counts, return_counts=True)
        sizes = dict(zip(*(part.tolist() for part in found), strict=True))
        if len(counts) < len(values):
            groups = _describe_groups(counts.tolist(), excesses.tolist(), mean)
    squared = excesses**2
    return Sums(
        sizes=sizes,
        mean=mean,
        squares=squares,
        between=float(squared.sum()),
        cubes=float((squared * excesses).sum()),
        lowest=float(values.min()),
        highest=float(values.max()),
        n_nonzero=int(np.count_nonzero(values)),
        is_whole=bool((values == np.rint(values)).all()),
        groups=groups,
    )


def _describe_groups(
    sizes: Sequence[int], excesses: Sequence[float], mean: float
) -> list[tuple[int, float]]:
    if len(sizes) >= FEW:
        return []
    return [(size, mean + excess / size) for size, excess in zip(sizes, excesses, strict=True)]


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


def measure_spread(sums: Sums) -> Spread:
    """Measure how much the mean of the values varies, tests of one group together.

    The variance is the cluster-robust one, corrected for the few groups by what it would be on
    average if all pairs of tests within a group were as alike as the values say. Its degrees of
    freedom follow from the same model, so that uneven groups have fewer.

    Args:
        sums: Of the values, one per test.

    Source:
        Bell and McCaffrey 2002, "Bias reduction in standard errors for linear regression with
        multi-stage samples", Survey Methodology 28; within-group correlation by moments: Kish
        1965, "Survey Sampling", 5.4.

    Example:
        >>> spread = measure_spread(sum_values([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"]))
        >>> spread.variance, spread.freedom, spread.n_effective
        (0.25, 1.0, 2.0)
    """
    n, n_groups = sums.n_tests, sums.n_groups
    variance, freedom, n_effective = 0.0, 1.0, float(n_groups)
    if n_groups > 1 and sums.squares > 1e-12 * n:
        variance, freedom, n_effective = _correct(sums)
    return Spread(
        mean=sums.mean,
        variance=variance / n**2,
        freedom=freedom,
        skew=sums.cubes / sums.between**1.5 if sums.between > 1e-12 * n else 0.0,
        n_groups=n_groups,
        n_effective=n_effective,
    )


_LEAST_SHARE = 0.25
"""Of the variance of independent tests: groups that balance each other by chance claim no more."""


def _correct(sums: Sums) -> tuple[float, float, float]:
    """Compute the variance of the sum, its degrees of freedom and the effective number of tests."""
    n, n_groups = sums.n_tests, sums.n_groups
    alone = sums.squares * n / (n - 1)
    if n == n_groups:
        return alone, n - 1.0, float(n)
    inflation = sums.between * n_groups / (n_groups - 1) / alone
    squared_sizes = sum(count * size**2 for size, count in sums.sizes.items())
    alike = min(1.0, max(0.0, (inflation - 1) / (squared_sizes / n - 1)))
    variances = {size: size + alike * size * (size - 1) for size in sums.sizes}
    total = math.fsum(sums.sizes[size] * variance for size, variance in variances.items())
    trace, squared = _expect_squares(sums.sizes, variances)
    variance = max(sums.between * total / trace, _LEAST_SHARE * alone)
    return variance, max(1.0, trace**2 / squared), n**2 / total


def _expect_squares(
    sizes: Mapping[int, int], variances: Mapping[int, float]
) -> tuple[float, float]:
    """Compute mean and half the variance of the sum of squared deviations of groups.

    They are trace(W) and trace(W²), with W = V^½ (I - 1h') (I - h1') V^½, `V` the variances of
    the groups' sums, by size, and `h` the groups' shares of the tests.
    """
    n = sum(size * count for size, count in sizes.items())

    def add(power: int, share_power: int) -> float:
        return math.fsum(
            count * variances[size] ** power * (size / n) ** share_power
            for size, count in sizes.items()
        )

    total, once, twice = add(1, 0), add(1, 1), add(1, 2)
    own, own_once, same = add(2, 0), add(2, 1), add(0, 2)
    trace = total - 2 * once + same * total
    squared = own + 2 * (same * own - 2 * own_once)
    squared += 2 * once**2 + 2 * twice * total - 4 * same * once * total + (same * total) ** 2
    return trace, squared


def compare_groups(
    values: Sequence[float], groups: Sequence[str | None] | None
) -> tuple[float, float]:
    """Compute how many times as much a sum varies because items share groups, at least 1.

    Args:
        values: What each item adds to the sum.
        groups: Group of each item, as in `number_groups`.

    Returns:
        That, and the degrees of freedom that the groups leave, at least 1.0.
    """
    alone, grouped = (measure_spread(sum_values(values, own)) for own in (None, groups))
    if alone.variance == 0:
        return 1.0, max(1.0, grouped.n_groups - 1.0)
    return max(1.0, grouped.variance / alone.variance), grouped.freedom


def weigh_few_groups(
    limits: tuple[float, float], sums: Sums, *, lowest: float = 0.0
) -> tuple[float, float]:
    """Replace an interval by that of `compute_few_groups_interval` as far as groups are few.

    Args:
        limits: Lower and upper limit that rest on the spread seen.
        sums: Of the values.
        lowest: Smallest possible value; the greatest is 1.

    Returns:
        Lower and upper limit; `limits` where tests have no groups, or one, or values are all alike.
    """
    if len(sums.groups) < 2 or sums.squares <= 1e-12 * sums.n_tests:
        return limits
    between = math.fsum(size * (mean - sums.mean) ** 2 for size, mean in sums.groups)
    scale = 1 - lowest
    low, high = compute_few_groups_interval(
        [size for size, _ in sums.groups],
        [min(1.0, max(0.0, (mean - lowest) / scale)) for _, mean in sums.groups],
        sums.squares / scale**2,
        max(0.0, sums.squares - between) / scale**2,
    )
    of_few = lowest + scale * low, lowest + scale * high
    return blend_few_groups(limits, of_few, sums.n_groups)
