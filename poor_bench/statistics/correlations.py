"""Pearson's and Spearman's correlations with their 95 % intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from poor_bench.statistics.intervals import Z_95, Estimate

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
        None if pearson is None else _with_interval(*pearson, variance=1.0)
        for pearson in _pearson_of_rows(x, y)
    ]


def correlate_ranks(x: ArrayLike, y: ArrayLike) -> Estimate | None:
    """Compute Spearman's rank correlation with its 95 % interval; ties share their mean rank.

    Args:
        x: Finite numbers.
        y: As many finite numbers.

    Returns:
        As one row of `correlate_rows`.

    Raises:
        ValueError: If the lengths differ.

    Source:
        Interval: Bonett and Wright 2000, "Sample size requirements for estimating Pearson, Kendall
        and Spearman correlations", Psychometrika 65.

    Example:
        >>> correlate_ranks([1, 2, 3, 4, 5], [2, 4, 8, 16, 32]).value
        1.0
    """
    from scipy import stats

    [pearson] = _pearson_of_rows([stats.rankdata(x)], [stats.rankdata(y)])
    if pearson is None:
        return None
    return _with_interval(*pearson, variance=1 + pearson[0] ** 2 / 2)


def _pearson_of_rows(x: ArrayLike, y: ArrayLike) -> list[tuple[float, int] | None]:
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


def _with_interval(value: float, n: int, *, variance: float) -> Estimate:
    if abs(value) > 1 - 1e-12:
        value = math.copysign(1.0, value)
        return Estimate(value=value, low=value, high=value, n=n)
    half = Z_95 * math.sqrt(variance / (n - 3))
    centre = math.atanh(value)
    return Estimate(value=value, low=math.tanh(centre - half), high=math.tanh(centre + half), n=n)
