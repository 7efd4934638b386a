"""From figures to places and colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

_ENOUGH_TICKS = 3
HEAT_STEPS = 20
"""The palette has this many steps, and one more."""


def percent(share: float) -> str:
    """Return a share as a percentage for SVG, such as `83.25%`."""
    return f"{100 * share:.2f}%"


def heat_step(score: float) -> int:
    """Return the step of the palette for a score of 0.0 to 1.0.

    Example:
        >>> heat_step(0.0), heat_step(0.5), heat_step(1.0)
        (0, 10, 20)
    """
    return round(min(1.0, max(0.0, score)) * HEAT_STEPS)


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers from `low` to `high`, both above 0: 1, 2, 5 or, if few, every digit.

    Example:
        >>> log_ticks(0.8, 30.0), log_ticks(3.5, 6.5)
        ([1.0, 2.0, 5.0, 10.0, 20.0], [4.0, 5.0, 6.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), range(1, 10)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= _ENOUGH_TICKS:
            break
    return shown


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Return places that are at least `gap` apart, each near its own, in the same order.

    Args:
        places: In ascending order.
        gap: At least 0.

    Example:
        >>> spread_out([10.0, 11.0, 40.0], gap=4.0)
        [8.5, 12.5, 40.0]
    """
    clusters: list[list[float]] = []
    for place in places:
        clusters.append([place])
        while len(clusters) > 1 and _overlap(clusters[-2], clusters[-1], gap):
            last = clusters.pop()
            clusters[-1] += last
    return [_start(cluster, gap) + gap * i for cluster in clusters for i in range(len(cluster))]


def _overlap(upper: Sequence[float], lower: Sequence[float], gap: float) -> bool:
    return _start(lower, gap) - (_start(upper, gap) + gap * (len(upper) - 1)) < gap


def _start(cluster: Sequence[float], gap: float) -> float:
    return sum(cluster) / len(cluster) - gap * (len(cluster) - 1) / 2
