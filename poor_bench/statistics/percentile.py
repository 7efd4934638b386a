"""Percentiles without numpy."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie.

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
