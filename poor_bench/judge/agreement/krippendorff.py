"""Agreement of any number of raters, with missing ratings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def krippendorff_alpha(items: Iterable[Sequence[float]]) -> float | None:
    """Compute Krippendorff's alpha of scores on an interval scale.

    Args:
        items: Per item, the scores that it got from those who rated it, in any order. Items with
            fewer than two scores tell nothing and are left out.

    Returns:
        1.0 for full agreement, 0.0 for as much as chance gives, negative for less; None where no
        item has two scores, or all scores are the same.

    Source:
        Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", University of
        Pennsylvania, departmental papers 43 (interval metric).

    Example:
        >>> round(krippendorff_alpha([[1, 1, 1], [2, 2, 3, 2], [4, 4]]), 3)
        0.923
    """
    paired = [scores for scores in items if len(scores) >= 2]
    pooled = [score for scores in paired for score in scores]
    if not pooled:
        return None
    n = len(pooled)
    expected = _squares(pooled) / (n - 1)
    within = math.fsum(len(s) * _squares(s) / (len(s) - 1) for s in paired)
    return None if expected == 0 else 1 - within / n / expected


def _squares(scores: Sequence[float]) -> float:
    """Compute the sum of squared deviations; exactly 0 if all values are equal."""
    if min(scores) == max(scores):
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.fsum((score - mean) ** 2 for score in scores)
