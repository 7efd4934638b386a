"""Estimates with 95 % intervals, the interval of a share, and the quantiles they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from poor_bench.messages import write_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimated figure with its 95 % confidence interval, `low <= value <= high`."""

    value: float
    low: float
    high: float
    n: int
    """Independent units it rests on: groups of tests, which are single tests where no test shares
    a group with another; never trials of tests."""
    n_tests: int | None = None
    """Tests in these units; None where each unit is one test."""

    @property
    def n_all(self) -> int:
        """Tests that it rests on, in groups or not."""
        return self.n if self.n_tests is None else self.n_tests

    @property
    def basis(self) -> str:
        """Tests and groups for screens, such as `12 tests` or `48 tests in 10 groups`."""
        return write_basis(self.n_all, None if self.n_tests is None else self.n)

    @property
    def margin(self) -> float:
        """Half the width of the interval, at least 0."""
        return (self.high - self.low) / 2


def estimate_by_groups(
    value: float,
    limits: tuple[float, float],
    *,
    n_groups: int,
    n_tests: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Build the estimate of a mean of tests in groups; all stays within bounds, around the value.

    Example:
        >>> estimate_by_groups(0.9, (0.5, 1.2), n_groups=3, n_tests=3, bounds=(0, 1))
        Estimate(value=0.9, low=0.5, high=1, n=3, n_tests=None)
    """
    lowest, highest = bounds
    value = min(highest, max(lowest, value))
    return Estimate(
        value=value,
        low=max(lowest, min(value, limits[0])),
        high=min(highest, max(value, limits[1])),
        n=n_groups,
        n_tests=None if n_groups == n_tests else n_tests,
    )


def write_basis(n_tests: int, n_groups: int | None = None) -> str:
    """Write on how many tests a figure rests, and in how many groups they are if in fewer.

    Example:
        >>> write_basis(12), write_basis(48, 10)
        ('12 tests', '48 tests in 10 groups')
    """
    tests = write_count(n_tests, "test")
    return tests if n_groups is None else f"{tests} in {write_count(n_groups, 'group')}"


Z_95 = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""

_POWERS = tuple(Z_95**power for power in range(10))


def t_quantile_95(degrees_of_freedom: float) -> float:
    """Approximate the 97.5 % quantile of Student's t distribution.

    Args:
        degrees_of_freedom: At least 1; need not be whole.

    Returns:
        The quantile, from 12.71 down to 1.96; exact for 1 and 2 degrees of freedom, within 3 % of
        the exact value between whole numbers below 3, within 0.2 % elsewhere.

    Raises:
        ValueError: If `degrees_of_freedom < 1`.

    Source:
        Abramowitz and Stegun 1964, "Handbook of Mathematical Functions", 26.7.5 (expansion);
        1 and 2 degrees of freedom have closed forms.

    Example:
        >>> round(t_quantile_95(10), 3)
        2.228
    """
    n = degrees_of_freedom
    if n < 1:
        raise ValueError(f"degrees_of_freedom must be at least 1, not {n}")
    if n == 1:
        return math.tan(math.pi * 0.475)
    if n == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    if n < 3:
        return _interpolate_t(n)
    _, z1, _, z3, _, z5, _, z7, _, z9 = _POWERS
    return (
        z1
        + (z3 + z1) / (4 * n)
        + (5 * z5 + 16 * z3 + 3 * z1) / (96 * n**2)
        + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z1) / (384 * n**3)
        + (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z1) / (92160 * n**4)
    )


def _interpolate_t(n: float) -> float:
    below, above = int(n), int(n) + 1
    share = (1 / below - 1 / n) / (1 / below - 1 / above)
    return float(t_quantile_95(below) ** (1 - share) * t_quantile_95(above) ** share)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Compute the value below which `share` of the values lie.

    Args:
        ordered: Values in ascending order, at least one.
        share: 0.0 to 1.0; 0.5 is the median.

    Returns:
        A value between the smallest and the largest, interpolated between neighbours.

    Raises:
        ValueError: If no value is given or `share` is out of range.

    Source:
        Hyndman and Fan 1996, "Sample quantiles in statistical packages", The American
        Statistician 50, type 7: the default of numpy, R and spreadsheets.

    Example:
        >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
        2.5
    """
    if not ordered or not 0 <= share <= 1:
        raise ValueError("a percentile needs at least one value and a share from 0 to 1")
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def wilson_interval(share: float, n: float, quantile: float = Z_95) -> tuple[float, float]:
    """Compute the interval of the shares that `n` observations do not rule out.

    It never leaves 0 to 1 and keeps a width where all observations agree, unlike the textbook
    interval of plus and minus two standard errors.

    Args:
        share: Observed share, 0.0 to 1.0.
        n: Number of independent observations, above 0; an effective number need not be whole.
        quantile: Normal quantile of the confidence wanted, above 0; 1.96 is 95 %.

    Returns:
        Lower and upper limit, `0 <= low <= share <= high <= 1`.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        Wilson 1927, "Probable inference, the law of succession, and statistical inference",
        Journal of the American Statistical Association 22; recommended for small `n` by
        Brown, Cai and DasGupta 2001, Statistical Science 16.

    Example:
        >>> low, high = wilson_interval(share=0.8, n=10)
        >>> round(low, 3), round(high, 3)
        (0.49, 0.943)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be from 0 to 1, not {share}")
    if not n > 0 or not quantile > 0:
        raise ValueError(f"n and quantile must be above 0, not {n} and {quantile}")
    prior = quantile**2 / n
    centre = (share + prior / 2) / (1 + prior)
    half = math.sqrt(share * (1 - share) * prior + prior**2 / 4) / (1 + prior)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


TAIL = 0.019
"""Chance of results at least as far off, on each side, that a limit of a share allows.

With half the chance of the result itself and 0.019 instead of 0.025, the interval of any share
covers at least 93 % from 10 observations on.
"""


@lru_cache(maxsize=1 << 16)
def mid_p_interval(successes: int, n: int) -> tuple[float, float]:
    """Compute the shares that so many successes in `n` independent observations do not rule out.

    Exact binomial probabilities, counting half that of the result itself. In simulation it covers
    93 % to 100 % from 5 observations on, whatever the share.

    Args:
        successes: 0 to `n`.
        n: Observations, at least 1.

    Returns:
        Lower and upper limit, `0 <= low <= successes / n <= high <= 1`.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Lancaster 1961, "Significance tests in discrete distributions", Journal of the American
        Statistical Association 56; Berry and Armitage 1995, The Statistician 44. `TAIL` is ours.

    Example:
        >>> low, high = mid_p_interval(0, 10)
        >>> low, round(high, 3)
        (0.0, 0.279)
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} observations")
    return 1 - _find_highest_share(n - successes, n), _find_highest_share(successes, n)


def _find_highest_share(successes: int, n: int) -> float:
    low, high = successes / n, 1.0
    if successes == n:
        return 1.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        if _compute_chance_of_fewer(successes, n, middle) > TAIL:
            low = middle
        else:
            high = middle
    return high


def _compute_chance_of_fewer(successes: int, n: int, share: float) -> float:
    """Compute the chance of fewer successes, and of as many by half."""
    lgamma = math.lgamma
    ways = lgamma(n + 1) - lgamma(successes + 1) - lgamma(n - successes + 1)
    chance = math.exp(ways + successes * math.log(share) + (n - successes) * math.log1p(-share))
    total = chance / 2
    odds = (1 - share) / share
    if successes > _MANY:
        return total + chance * _sum_ratios(successes, n, odds, share)
    for k in range(successes, 0, -1):
        chance *= k * odds / (n - k + 1)
        total += chance
        if chance <= 1e-12 * total:
            break
    return total


_MANY = 500
"""Successes from which on chances are summed up at once: one by one takes longer than importing."""


def _sum_ratios(successes: int, n: int, odds: float, share: float) -> float:
    """Sum up the chances of fewer successes, each by that of as many; tiny ones are left out."""
    import numpy as np

    n_counting = min(successes, 32 + int(8 * math.sqrt(n * share * (1 - share))))
    fewer = np.arange(successes, successes - n_counting, -1.0)
    return float(np.cumprod(fewer * odds / (n - fewer + 1)).sum())


def guard_against_unseen(
    limits: tuple[float, float],
    mean: float,
    n: float,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    all_alike: bool = False,
    unlike: float = 0.0,
) -> tuple[float, float]:
    """Widen an interval for extreme values that so few observations may have missed.

    Values that a share of the tests would have stay unseen in `n` draws with a chance of 3.8 %
    at a share of 1 - 0.038^(1/n): 28 % at 10 tests, 10 % at 30. The interval takes in the means
    that such a share at either bound would give. This holds in full up to 15 observations, and
    fades until 30: from there on the values seen must tell. Fading until 60 would reach 93 % at 30
    tests of which 5 % are far off, but intervals of harmless low scores would be up to four times
    as wide as needed.

    Args:
        limits: Lower and upper limit.
        mean: Mean of the values.
        n: Independent observations, at least 1; need not be whole.
        bounds: Smallest and largest possible value.
        all_alike: True if the values are all the same; then nothing fades.
        unlike: Least share of the values to be allowed for at either bound.

    Returns:
        Lower and upper limit, within `bounds` if `limits` are.
    """
    low, high = limits
    weight = 1.0 if all_alike else min(1.0, max(0.0, (30 - n) / 15))
    unseen = max(unlike, 1 - (2 * TAIL) ** (1 / n))
    lowest, highest = mean - unseen * (mean - bounds[0]), mean + unseen * (bounds[1] - mean)
    return low - weight * max(0.0, low - lowest), high + weight * max(0.0, highest - high)


_MOST_SKEW = 0.6


def stretch_by_skew(limits: tuple[float, float], mean: float, skew: float) -> tuple[float, float]:
    """Move the limit on the side of rare values out, as far as the skewness of the mean says.

    A mean that is low because it lacks rare high values comes with too small a variance, too.

    Args:
        limits: Lower and upper limit.
        mean: Between them.
        skew: Skewness of the mean, that of single values by the root of their number.

    Returns:
        Lower and upper limit; one of them is as it was.
    """
    low, high = limits
    factor = 1 + min(_MOST_SKEW, abs(skew)) / 2
    return (
        (low, mean + (high - mean) * factor) if skew > 0 else (mean - (mean - low) * factor, high)
    )
