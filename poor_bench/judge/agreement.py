"""Agreement of a judge with people, beyond chance."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.statistics.agreement import (
    AnnotatorTest,
    measure_rater_agreement,
    run_annotator_test,
)
from poor_bench.statistics.correlations import correlate_grouped, correlate_ranks
from poor_bench.statistics.groups import measure_spread, sum_values
from poor_bench.statistics.intervals import Estimate, estimate_by_groups, t_quantile_95
from poor_bench.statistics.partial_effect import estimate_partial_effect


def compute_cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Compute Cohen's kappa of two raters for categories.

    Args:
        first: The first rater's category of each item, at least one item.
        second: The second rater's, in the same order.

    Returns:
        1.0 for full agreement, 0.0 for as much as chance gives, at least -1.0; None where both
        raters put every item into one and the same category, so that chance explains all.

    Raises:
        ValueError: If no item is given, or the lengths differ.

    Source:
        Cohen 1960, "A coefficient of agreement for nominal scales", Educational and Psychological
        Measurement 20.

    Example:
        >>> first = ["yes"] * 25 + ["no"] * 25
        >>> second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
        >>> round(compute_cohen_kappa(first, second), 3)
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
        ValueError: If no item is given, or the lengths differ.

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


def compute_krippendorff_alpha(items: Iterable[Sequence[float]]) -> float | None:
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
        >>> round(compute_krippendorff_alpha([[1, 1, 1], [2, 2, 3, 2], [4, 4]]), 3)
        0.923
    """
    paired = [scores for scores in items if len(scores) >= 2]
    pooled = [score for scores in paired for score in scores]
    if not pooled:
        return None
    n = len(pooled)
    expected = _compute_squares(pooled) / (n - 1)
    within = math.fsum(len(s) * _compute_squares(s) / (len(s) - 1) for s in paired)
    return None if expected == 0 else 1 - within / n / expected


def _compute_squares(scores: Sequence[float]) -> float:
    """Compute the sum of squared deviations; exactly 0 if all values are equal."""
    if min(scores) == max(scores):
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.fsum((score - mean) ** 2 for score in scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredItem:
    """One conversation with its scores, each 0.0 to 10.0."""

    judge: float
    """The judge's score; the mean of several judgements."""
    humans: Mapping[str, float]
    """Score of each person by name, at least one."""
    length: int
    """Number of characters of the agent's messages."""
    group: str | None = None
    """Of the case; None for one of its own."""

    @property
    def human(self) -> float:
        """The mean of the people's scores."""
        return statistics.fmean(self.humans.values())


class Trust(StrEnum):
    """Verdict on a judge."""

    YES = "can be relied upon"
    UNKNOWN = "cannot be told yet"
    NO = "cannot be relied upon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of a judge with people; None where data are too few."""

    n: int
    """Items with a score of the judge and of at least one person."""
    n_people: int
    """People who scored them."""
    trust: Trust
    kappa: float | None
    """Cohen's kappa of passed and not passed."""
    weighted_kappa: float | None
    """Kappa of the judge's scores and the people's means, with quadratic weights."""
    alpha: float | None
    """Krippendorff's alpha of the judge and the people's means, interval scale."""
    human_alpha: float | None
    """The same among people alone: the limit for a judge."""
    with_people: Estimate | None
    """Weighted kappa of the judge with people, each of several people left out in turn."""
    among_people: Estimate | None
    """The same of a person with the other people."""
    annotator_test: AnnotatorTest | None
    """None where no two people share 20 items."""
    pearson: Estimate | None
    spearman: Estimate | None
    bias: Estimate | None
    """Mean of judge minus people, in points; positive if the judge scores too high."""
    length_correlation: Estimate | None
    """Rank correlation of the judge's score and the answer's length."""
    length_bias: Estimate | None
    """Points that the judge adds for an answer twice as long and of the same quality."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedScore:
    """Mean score that people would give the answers of one model, from a judge and labels."""

    judge: str
    agent_id: str
    llm_id: str
    n_judged: int
    n_labelled: int
    judge_mean: float
    """Mean score of the judge, 0.0 to 10.0."""
    corrected: Estimate | None
    """0.0 to 10.0; None for fewer than 5 labelled answers."""


FEW_ITEMS = 20
"""Below this number of labelled items, no verdict is given."""
_WEAK = 0.667
"""Limit for a judge that one person checks: below it, Krippendorff advises against conclusions.

Source:
    Krippendorff 2004, "Content Analysis", 2nd edition, section 11.4.
"""
_PASSED = 0.5
"""Winning rate from which on the annotator test is passed."""


def measure_agreement(items: Sequence[ScoredItem], pass_rating: float) -> Agreement:
    """Compute the agreement of a judge with people.

    Args:
        items: What both scored; may be empty.
        pass_rating: From which score on, 0.0 to 10.0, an item is passed.
    """
    judge, human = [item.judge for item in items], [item.human for item in items]
    lengths = [float(item.length) for item in items]
    names = list(dict.fromkeys(name for item in items for name in item.humans))
    people = [[item.humans.get(name, math.nan) for name in names] for item in items]
    passed = [score >= pass_rating for score in judge], [score >= pass_rating for score in human]
    groups = [item.group for item in items]
    raters = measure_rater_agreement(judge, people, groups) if items else None
    annotator_test = run_annotator_test(judge, people, groups) if items else None
    with_people = raters.judge if raters else None
    return Agreement(
        n=len(items),
        n_people=len(names),
        trust=decide_trust(len(items), with_people, annotator_test),
        kappa=compute_cohen_kappa(*passed) if items else None,
        weighted_kappa=compute_weighted_kappa(judge, human) if items else None,
        alpha=compute_krippendorff_alpha(list(zip(judge, human, strict=True))),
        human_alpha=compute_krippendorff_alpha([list(item.humans.values()) for item in items]),
        with_people=with_people,
        among_people=raters.person if raters else None,
        annotator_test=annotator_test,
        pearson=correlate_grouped(judge, human, groups) if items else None,
        spearman=correlate_ranks(judge, human, groups) if items else None,
        bias=estimate_mean_difference(judge, human, groups),
        length_correlation=correlate_ranks(judge, lengths, groups) if items else None,
        length_bias=_measure_length_bias(judge, lengths, people, groups),
    )


def decide_trust(
    n: int, with_people: Estimate | None, annotator_test: AnnotatorTest | None
) -> Trust:
    """Decide whether a judge can be relied upon.

    Held against several people, a judge can be relied upon as much as one of them if it passes the
    alternative annotator test and its agreement is significantly above chance: the test alone
    passes a judge that guesses where people guess, too. Held against one person, its agreement
    must be significantly at least 0.667. In simulation
    (`benchmarks/statistics/judge_agreement.py`) an unrelated judge passes in at most 5 %.

    Args:
        n: Labelled items.
        with_people: Agreement of the judge with people.
        annotator_test: None where people share too few items.
    """
    if n < FEW_ITEMS or with_people is None:
        return Trust.UNKNOWN
    if annotator_test is None:
        if with_people.high < _WEAK:
            return Trust.NO
        return Trust.YES if with_people.low >= _WEAK else Trust.UNKNOWN
    if annotator_test.losing_rate >= _PASSED:
        return Trust.NO
    passes = annotator_test.winning_rate >= _PASSED and with_people.low > 0
    return Trust.YES if passes else Trust.UNKNOWN


def _measure_length_bias(
    judge: Sequence[float],
    lengths: Sequence[float],
    people: Sequence[Sequence[float]],
    groups: Sequence[str | None],
) -> Estimate | None:
    doublings = [math.log2(max(1.0, length)) for length in lengths]
    return estimate_partial_effect(judge, doublings, people, groups) if judge else None


def estimate_mean_difference(
    first: Sequence[float], second: Sequence[float], groups: Sequence[str | None] | None = None
) -> Estimate | None:
    """Compute the mean of first minus second with its 95 % CI (Student's t).

    Args:
        first: Scores of items.
        second: Other scores of the same items.
        groups: Group of each item, as in `number_groups`; items of one group are not independent.

    Returns:
        None for fewer than two groups.

    Source:
        Student 1908, "The probable error of a mean", Biometrika 6; groups: `measure_spread`.

    Example:
        >>> estimate = estimate_mean_difference([7.0, 8.0, 9.0], [6.0, 6.0, 6.0])
        >>> round(estimate.value, 1), round(estimate.low, 1), round(estimate.high, 1)
        (2.0, -0.5, 4.5)
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    if not differences:
        return None
    spread = measure_spread(sum_values(differences, groups))
    if spread.n_groups < 2:
        return None
    half = t_quantile_95(spread.freedom) * math.sqrt(spread.variance)
    limits = spread.mean - half, spread.mean + half
    return estimate_by_groups(
        spread.mean, limits, n_groups=spread.n_groups, n_tests=len(differences)
    )
