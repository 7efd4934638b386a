"""Length bias of a judge."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poor_bench.statistics.correlation import rank_correlation
from poor_bench.statistics.intervals import Z_95, Estimate

_LEAST = 5


def partial_rank_correlation(
    x: Sequence[float], y: Sequence[float], given: Sequence[float]
) -> Estimate | None:
    """Compute the partial rank correlation of `x` and `y`, given `given`.

    With a judge's scores, the lengths of the answers and people's scores, it tells what length
    does to the judge beyond what it does to people.

    Args:
        x: Finite numbers.
        y: As many finite numbers.
        given: As many finite numbers.

    Returns:
        -1.0 to 1.0 with its 95 % interval; None for fewer than 5 items, where one side does not
        vary, or where `given` alone fixes `x` or `y`.

    Raises:
        ValueError: If the lengths differ.

    Source:
        Formula: Kendall 1942, "Partial rank correlation", Biometrika 32, with Spearman's
        coefficient; interval: Fisher 1924, "The distribution of the partial correlation
        coefficient", Metron 3, with the variance of Bonett and Wright 2000, Psychometrika 65.

    Example:
        >>> estimate = partial_rank_correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], [2, 1, 4, 3, 5])
        >>> round(estimate.value, 2)
        0.98
    """
    pairs = [rank_correlation(x, y), rank_correlation(x, given), rank_correlation(y, given)]
    xy, xz, yz = (None if pair is None else pair.value for pair in pairs)
    if xy is None or xz is None or yz is None or len(x) < _LEAST:
        return None
    left_over = (1 - xz**2) * (1 - yz**2)
    if left_over < 1e-12:
        return None
    value = max(-1.0, min(1.0, (xy - xz * yz) / math.sqrt(left_over)))
    return _with_interval(value, len(x))


def _with_interval(value: float, n: int) -> Estimate:
    if abs(value) > 1 - 1e-12:
        return Estimate(value=value, low=value, high=value, n=n)
    half = Z_95 * math.sqrt((1 + value**2 / 2) / (n - 4))
    centre = math.atanh(value)
    return Estimate(value=value, low=math.tanh(centre - half), high=math.tanh(centre + half), n=n)
