"""Agreement of a judge's scores with people's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from poor_bench.judge.agreement.kappa import cohen_kappa, weighted_kappa
from poor_bench.judge.agreement.krippendorff import krippendorff_alpha
from poor_bench.judge.agreement.length_bias import partial_rank_correlation
from poor_bench.statistics.correlation import rank_correlation, row_correlations
from poor_bench.statistics.intervals import Estimate, t_quantile_95


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


def measure_agreement(items: Sequence[ScoredItem], pass_score: float) -> Agreement:
    """Compute the agreement of a judge with people.

    Args:
        items: What both scored; may be empty.
        pass_score: From which score on, 0.0 to 10.0, an item is passed.
    """
    judge, human = [item.judge for item in items], [item.human for item in items]
    lengths = [float(item.length) for item in items]
    passed = [score >= pass_score for score in judge], [score >= pass_score for score in human]
    return Agreement(
        n=len(items),
        kappa=cohen_kappa(*passed) if items else None,
        weighted_kappa=weighted_kappa(judge, human) if items else None,
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
