"""Wilson's interval for a share."""

from __future__ import annotations

import math

from poor_bench.statistics.quantiles import Z_95


def wilson_interval(share: float, n: float, quantile: float = Z_95) -> tuple[float, float]:
    """Return the interval of the shares that `n` observations do not rule out.

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
