"""Agreement of two raters beyond chance."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from poor_bench.statistics.correlations import rank_correlation, row_correlations
from poor_bench.statistics.intervals import Z_95, Estimate, t_quantile_95


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


def compute_weighted_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
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
        >>> round(compute_weighted_kappa([1, 2, 3, 4], [1, 2, 4, 4]), 3)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredItem:
    """One conversation with its scores, each 0.0 to 10.0."""

    judge: float
    """The judge's score; the mean of several judgements."""
    humans: tuple[float, ...]
    """Each person's score, at least one."""
    length: int
    """Number of characters of the agent's messages."""

    @property
    def human(self) -> float:
        """The mean of the people's scores."""
        return statistics.fmean(self.humans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of a judge with people; None where data are too few."""

    n: int
    """Items with a score of the judge and of at least one person."""
    kappa: float | None
    """Cohen's kappa of passed and not passed."""
    weighted_kappa: float | None
    """Kappa of the scores, with quadratic weights."""
    alpha: float | None
    """Krippendorff's alpha of the judge and all people, interval scale."""
    human_alpha: float | None
    """The same among people alone: the limit for a judge."""
    pearson: Estimate | None
    spearman: Estimate | None
    bias: Estimate | None
    """Mean of judge minus people, in points; positive if the judge scores too high."""
    length_correlation: Estimate | None
    """Rank correlation of the judge's score and the answer's length."""
    length_bias: Estimate | None
    """The same, given people's scores."""


def measure_agreement(items: Sequence[ScoredItem], pass_rating: float) -> Agreement:
    """Compute the agreement of a judge with people.

    Args:
        items: What both scored; may be empty.
        pass_rating: From which score on, 0.0 to 10.0, an item is passed.
    """
    judge, human = [item.judge for item in items], [item.human for item in items]
    lengths = [float(item.length) for item in items]
    passed = [score >= pass_rating for score in judge], [score >= pass_rating for score in human]
    return Agreement(
        n=len(items),
        kappa=cohen_kappa(*passed) if items else None,
        weighted_kappa=compute_weighted_kappa(judge, human) if items else None,
        alpha=krippendorff_alpha([(item.judge, *item.humans) for item in items]),
        human_alpha=krippendorff_alpha([item.humans for item in items]),
        pearson=row_correlations([judge], [human])[0] if items else None,
        spearman=rank_correlation(judge, human) if items else None,
        bias=mean_difference(judge, human),
        length_correlation=rank_correlation(judge, lengths) if items else None,
        length_bias=partial_rank_correlation(judge, lengths, human) if items else None,
    )


def mean_difference(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Compute the mean of first minus second with its 95 % CI (Student's t).

    Args:
        first: Scores of items.
        second: Other scores of the same items.

    Returns:
        None for fewer than two items.

    Source:
        Student 1908, "The probable error of a mean", Biometrika 6.

    Example:
        >>> estimate = mean_difference([7.0, 8.0, 9.0], [6.0, 6.0, 6.0])
        >>> round(estimate.value, 1), round(estimate.low, 1), round(estimate.high, 1)
        (2.0, -0.5, 4.5)
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    n = len(differences)
    if n < 2:
        return None
    mean = statistics.fmean(differences)
    half = t_quantile_95(n - 1) * statistics.stdev(differences) / math.sqrt(n)
    return Estimate(value=mean, low=mean - half, high=mean + half, n=n)
