"""Estimates with 95 % intervals, the interval of a share, and the quantiles they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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
    def margin(self) -> float:
        """Half the width of the interval, at least 0."""
        return (self.high - self.low) / 2


Z_95 = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""

_POWERS = tuple(Z_95**power for power in range(10))


def t_quantile_95(degrees_of_freedom: int) -> float:
    """Approximate the 97.5 % quantile of Student's t distribution.

    Args:
        degrees_of_freedom: At least 1.

    Returns:
        The quantile, from 12.71 down to 1.96; exact for 1 and 2 degrees of freedom, within 0.2 %
        of the exact value elsewhere.

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
    _, z1, _, z3, _, z5, _, z7, _, z9 = _POWERS
    return (
        z1
        + (z3 + z1) / (4 * n)
        + (5 * z5 + 16 * z3 + 3 * z1) / (96 * n**2)
        + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z1) / (384 * n**3)
        + (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z1) / (92160 * n**4)
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """Compute the value below which `share` of the values lie.

    Args:
        ordered: Values in ascending order, at least one.
        share: 0.0 to 1.0; 0.5 is the median.

    Returns:
        A value between the smallest and the largest, interpolated between neighbours.

    Raises:
        ValueError: If there is no value or `share` is out of range.

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
