"""Agreement of two raters beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Compute Cohen's kappa of two raters for categories.

    Args:
        first: The first rater's category of each item, at least one item.
        second: The second rater's, in the same order.

    Returns:
        1.0 for full agreement, 0.0 for as much as chance gives, at least -1.0; None where both
        raters put every item into one and the same category, so that chance explains all.

    Raises:
        ValueError: If there is no item, or the lengths differ.

    Source:
        Cohen 1960, "A coefficient of agreement for nominal scales", Educational and Psychological
        Measurement 20.

    Example:
        >>> first = ["yes"] * 25 + ["no"] * 25
        >>> second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
        >>> round(cohen_kappa(first, second), 3)
        0.4
    """
    n = _check(first, second)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts_first, counts_second = Counter(first), Counter(second)
    expected = sum(count * counts_second[key] for key, count in counts_first.items()) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def weighted_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compute the quadratically weighted kappa of two raters for numbers.

    Large differences count more than small ones. The scores need not be whole: with quadratic
    weights kappa is the concordance correlation of the numbers themselves.

    Args:
        first: The first rater's score of each item, at least one item.
        second: The second rater's, in the same order.

    Returns:
        1.0 for full agreement, 0.0 for as much as chance gives; None where all scores of both
        raters are one and the same.

    Raises:
        ValueError: If there is no item, or the lengths differ.

    Source:
        Cohen 1968, "Weighted kappa", Psychological Bulletin 70; its equality with the concordance
        correlation: Krippendorff 1970, "Bivariate agreement coefficients for reliability of data",
        Sociological Methodology 2.

    Example:
        >>> round(weighted_kappa([1, 2, 3, 4], [1, 2, 4, 4]), 3)
        0.917
    """
    n = _check(first, second)
    mean_first, mean_second = math.fsum(first) / n, math.fsum(second) / n
    observed = math.fsum((a - b) ** 2 for a, b in zip(first, second, strict=True)) / n
    variances = math.fsum((a - mean_first) ** 2 for a in first) / n
    variances += math.fsum((b - mean_second) ** 2 for b in second) / n
    expected = variances + (mean_first - mean_second) ** 2
    return None if expected == 0 else 1 - observed / expected


def _check(first: Sequence[object], second: Sequence[object]) -> int:
    if not first or len(first) != len(second):
        raise ValueError(f"both raters must score the same items: {len(first)} and {len(second)}")
    return len(first)
