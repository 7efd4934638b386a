"""Noise floor of a judge: differences that occur by chance."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from poor_bench.statistics.intervals import t_quantile_95

_IN_THOUGHT = 1.0
"""Distance of the additional hypothetical repeat, in points."""


def noise_floor(repeats: Iterable[Sequence[float]], n_judgements: float = 1) -> float | None:
    """Compute the difference that chance alone exceeds in 5 % of comparisons.

    It is the repeatability limit of measuring instruments, with Student's quantile as the standard
    deviation is estimated from few repeats. A repeat that lies a point off is added in thought:
    judges give whole numbers, so two or three of them are often equal, which does not show a judge
    that never varies. In simulation (whole numbers, standard deviation 0.2 to 2, 2 to 20 repeats)
    chance exceeds the floor in 0 % to 7 % of the comparisons; without that repeat in up to 25 %.

    Args:
        repeats: Groups of scores, each 0.0 to 10.0, that one judge gave to one and the same thing;
            groups may be of different things, since only the distances within each group count.
        n_judgements: Over how many judgements each of the two scores to be compared is a mean;
            where they differ, the harmonic mean of the two numbers.

    Returns:
        Above 0.0, in points; little for a judge that repeats itself many times. None where nothing
        was judged twice.

    Raises:
        ValueError: If `n_judgements < 1`.

    Source:
        ISO 5725-6:1994, "Accuracy of measurement methods and results", 4.1 (repeatability limit).

    Example:
        >>> round(noise_floor([[6.0, 7.0, 8.0], [4.0, 4.5, 5.0]]), 2)
        3.04
    """
    if n_judgements < 1:
        raise ValueError(f"n_judgements must be at least 1, not {n_judgements}")
    groups = [scores for scores in repeats if len(scores) >= 2]
    freedom = sum(len(scores) - 1 for scores in groups)
    if freedom == 0:
        return None
    squares = math.fsum(statistics.variance(scores) * (len(scores) - 1) for scores in groups)
    deviation = math.sqrt((squares + _IN_THOUGHT**2) / (freedom + 1))
    return t_quantile_95(freedom + 1) * deviation * math.sqrt(2 / n_judgements)


def within_noise(difference: float, floor: float | None) -> bool:
    """True if a difference of two scores is within noise.

    Args:
        difference: Of two scores of one judge, in either direction.
        floor: What `noise_floor` returned; where it is None, nothing is known and nothing is ruled
            out, so every difference may be chance.

    Example:
        >>> within_noise(-0.4, 0.9), within_noise(1.2, 0.9), within_noise(3.0, None)
        (True, False, True)
    """
    return floor is None or abs(difference) <= floor
