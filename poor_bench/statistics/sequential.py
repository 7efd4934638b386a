"""Confidence sequences: limits that hold at every look, however often one looks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_ITERATIONS = 12


def anytime_margin(
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
        >>> round(float(anytime_margin(0.01, scale=0.1)), 2)
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
