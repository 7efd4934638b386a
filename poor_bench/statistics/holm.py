"""Correction of p-values where many comparisons are made at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all comparisons together.

    Whoever calls those below 0.05 real errs in any of them with a chance of at most 5 %.

    Args:
        p_values: Each 0.0 to 1.0.

    Returns:
        Adjusted p-values in the same order, none below the original, 0.0 to 1.0.

    Raises:
        ValueError: If a p-value is out of range.

    Source:
        Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
        of Statistics 6.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("p-values must be from 0 to 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = highest
    return adjusted
