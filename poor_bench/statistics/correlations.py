"""Pearson's and Spearman's correlations with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from poor_bench.statistics.groups import compare_groups, number_groups
from poor_bench.statistics.intervals import Z_95, Estimate, estimate_by_groups, t_quantile_95

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


_LEAST = 4


def correlate_rows(x: ArrayLike, y: ArrayLike) -> list[Estimate | None]:
    """Compute Pearson's correlation of each row of `x` with the same row of `y`.

    With one side all 0 or 1 this is the point-biserial correlation.

    Args:
        x: Table of numbers; NaN where one is missing.
        y: Table of the same shape.

    Returns:
        Per row -1.0 to 1.0 with its 95 % interval, `n` complete pairs; None for fewer than 4 of
        them, or where one side does not vary.

    Raises:
        ValueError: If the shapes differ.

    Source:
        Fisher 1921, "On the probable error of a coefficient of correlation", Metron 1 (interval).

    Example:
        >>> [estimate] = correlate_rows([[1, 2, 3, 4, 5]], [[1, 2, 3, 5, 4]])
        >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2)
        (0.9, 0.09, 0.99)
    """
    return [
        None if pearson is None else _add_interval(*pearson, variance=1.0)
        for pearson in _correlate_rows(x, y)
    ]


def correlate_grouped(
    x: ArrayLike, y: ArrayLike, groups: Sequence[str | None] | None
) -> Estimate | None:
    """Compute Pearson's correlation of items, of which those of one group are not independent.

    Args:
        x: Finite numbers.
        y: As many finite numbers.
        groups: Group of each item, as in `number_groups`.

    Returns:
        As one row of `correlate_rows`, `n` groups; None for fewer than 4 groups.
        In simulation (`benchmarks/statistics/judge_agreement.py`) the interval covers the truth in
        94 % to 96 % with 20 or 40 groups of 5 items, and in 97 % to 98 % with 10.

    Source:
        Interval: as that of independent items, as many times as wide as the groups make the
        influence of the items on the correlation vary: Devlin, Gnanadesikan and Kettenring 1975,
        Biometrika 62 (influence).
    """
    import numpy as np

    [pearson] = _correlate_rows(np.atleast_2d(x), np.atleast_2d(y))
    return None if pearson is None else _with_groups(x, y, groups, pearson[0], variance=1.0)


def correlate_ranks(
    x: ArrayLike, y: ArrayLike, groups: Sequence[str | None] | None = None
) -> Estimate | None:
    """Compute Spearman's rank correlation with its 95 % interval; ties share their mean rank.

    Args:
        x: Finite numbers.
        y: As many finite numbers.
        groups: As in `correlate_grouped`.

    Returns:
        As one row of `correlate_rows`, `n` groups.

    Raises:
        ValueError: If the lengths differ.

    Source:
        Interval: Bonett and Wright 2000, "Sample size requirements for estimating Pearson, Kendall
        and Spearman correlations", Psychometrika 65.

    Example:
        >>> correlate_ranks([1, 2, 3, 4, 5], [2, 4, 8, 16, 32]).value
        1.0
    """
    ranks = rank_values(x), rank_values(y)
    [pearson] = _correlate_rows([ranks[0]], [ranks[1]])
    if pearson is None:
        return None
    return _with_groups(*ranks, groups, pearson[0], variance=1 + pearson[0] ** 2 / 2)


def rank_values(values: ArrayLike) -> NDArray[np.float64]:
    """Rank numbers from 1 on; ties share their mean rank.

    The same as `scipy.stats.rankdata`, whose import takes most of a second.

    Args:
        values: Finite numbers.

    Example:
        >>> rank_values([30, 10, 20, 10]).tolist()
        [4.0, 1.5, 3.0, 1.5]
    """
    import numpy as np

    _, places, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    means: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return means[places]


def _with_groups(
    x: ArrayLike, y: ArrayLike, groups: Sequence[str | None] | None, value: float, variance: float
) -> Estimate | None:
    """Widen the interval by how much more the groups make the correlation vary."""
    import numpy as np

    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n_groups = max(number_groups(len(xs), groups)) + 1
    if n_groups == len(xs) or n_groups < _LEAST or abs(value) > 1 - 1e-12:
        return None if n_groups < _LEAST else _add_interval(value, len(xs), variance=variance)
    xs, ys = (xs - xs.mean()) / xs.std(), (ys - ys.mean()) / ys.std()
    influence = xs * ys - value * (xs**2 + ys**2) / 2
    more, freedom = compare_groups(influence.tolist(), groups)
    half = t_quantile_95(freedom) * math.sqrt(variance * more / (len(xs) - 3))
    centre = math.atanh(value)
    limits = math.tanh(centre - half), math.tanh(centre + half)
    return estimate_by_groups(value, limits, n_groups=n_groups, n_tests=len(xs))


def _correlate_rows(x: ArrayLike, y: ArrayLike) -> list[tuple[float, int] | None]:
    """Compute the correlation and count the pairs of each row."""
    import numpy as np

    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xs.shape != ys.shape:
        raise ValueError(f"shapes {xs.shape} and {ys.shape} differ")
    complete = ~np.isnan(xs + ys)
    counts = complete.sum(axis=1)
    xs, ys = _centre(xs, complete), _centre(ys, complete)
    spread = np.sqrt((xs**2).sum(axis=1) * (ys**2).sum(axis=1))
    usable = (counts >= _LEAST) & (spread > 1e-12)
    values = np.divide((xs * ys).sum(axis=1), spread, out=np.zeros(len(spread)), where=usable)
    return [
        (min(1.0, max(-1.0, value)), n) if use else None
        for value, n, use in zip(values.tolist(), counts.tolist(), usable.tolist(), strict=True)
    ]


def _centre(values: NDArray[np.float64], kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    import numpy as np

    counts = np.maximum(1, kept.sum(axis=1, keepdims=True))
    means = np.where(kept, values, 0.0).sum(axis=1, keepdims=True) / counts
    return np.where(kept, values - means, 0.0)


def _add_interval(value: float, n: int, *, variance: float) -> Estimate:
    if abs(value) > 1 - 1e-12:
        value = math.copysign(1.0, value)
        return Estimate(value=value, low=value, high=value, n=n)
    half = Z_95 * math.sqrt(variance / (n - 3))
    centre = math.atanh(value)
    return Estimate(value=value, low=math.tanh(centre - half), high=math.tanh(centre + half), n=n)
