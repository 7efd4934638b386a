"""Spread of repeated judgements."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.judge.agreement import compute_krippendorff_alpha
from poor_bench.judge.judgement import Judgement
from poor_bench.statistics.intervals import t_quantile_95


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSpread:
    """Several scores of one thing, each 0.0 to 10.0."""

    mean: float
    low: float
    high: float
    n: int
    sd: float | None
    """Standard deviation of the scores; None for a single one."""

    @property
    def width(self) -> float:
        """Highest minus lowest score."""
        return self.high - self.low


def compute_spread(scores: Sequence[float]) -> JudgeSpread:
    """Compute mean, range and standard deviation of repeated scores.

    Raises:
        ValueError: If no score is given.

    Example:
        >>> compute_spread([6.0, 7.0, 8.0])
        JudgeSpread(mean=7.0, low=6.0, high=8.0, n=3, sd=1.0)
    """
    if not scores:
        raise ValueError("a spread needs at least one score")
    return JudgeSpread(
        mean=statistics.fmean(scores),
        low=min(scores),
        high=max(scores),
        n=len(scores),
        sd=statistics.stdev(scores) if len(scores) > 1 else None,
    )


_IN_THOUGHT = 1.0
"""Distance of the additional hypothetical repeat, in points."""


def estimate_noise_floor(
    repeats: Iterable[Sequence[float]], n_judgements: float = 1
) -> float | None:
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
        >>> round(estimate_noise_floor([[6.0, 7.0, 8.0], [4.0, 4.5, 5.0]]), 2)
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


def is_within_noise(difference: float, floor: float | None) -> bool:
    """True if a difference of two scores is within noise.

    Args:
        difference: Of two scores of one judge, in either direction.
        floor: As of `estimate_noise_floor`; where it is None, nothing is known and nothing is
            ruled out, so every difference may be chance.

    Example:
        >>> is_within_noise(-0.4, 0.9), is_within_noise(1.2, 0.9), is_within_noise(3.0, None)
        (True, False, True)
    """
    return floor is None or abs(difference) <= floor


class PanelDecision(StrEnum):
    """Method of combining several judges."""

    MEAN = "mean"
    """The mean of the judges' scores, each judge's own mean counting once."""
    MEDIAN = "median"
    """The median: robust against one outlier."""
    MAJORITY = "majority"
    """Scores by their median, approval by more than half of the judges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelMember:
    """All judgements of one judge, without fallbacks."""

    judge: str
    n_fallbacks: int
    is_self_judged: bool
    overall: JudgeSpread | None
    """None where it never came to a judgement."""
    dimensions: Mapping[str, JudgeSpread]
    cases: Mapping[str, JudgeSpread]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Combined result of all judges; a single judge is a panel of one."""

    decision: PanelDecision
    threshold: float
    members: tuple[PanelMember, ...]
    overall_score: float | None
    """0.0 to 10.0; None where no judge came to a judgement."""
    scores: Mapping[str, float]
    """Dimension to score, decided in the same way."""
    case_scores: Mapping[str, float]
    n_approving: int
    """Judges whose own mean reaches the threshold."""
    disagreement: float
    """Distance of the highest from the lowest judge's overall score, in points; 0.0 for one."""
    dimension_disagreement: Mapping[str, float]
    alpha: float | None
    """Krippendorff's alpha of the judges over the cases; None for one judge, or where all scores
    are the same."""

    @property
    def voters(self) -> tuple[PanelMember, ...]:
        """The judges that came to a judgement."""
        return tuple(member for member in self.members if member.overall is not None)

    @property
    def n_fallbacks(self) -> int:
        """Failed judgements."""
        return sum(member.n_fallbacks for member in self.members)

    @property
    def is_self_judged(self) -> bool:
        """True if a judge judged its own model."""
        return any(member.is_self_judged for member in self.members)

    @property
    def is_approved(self) -> bool:
        """True if the agent is approved; False while a judge is missing."""
        if self.overall_score is None or len(self.voters) < len(self.members):
            return False
        if self.decision is PanelDecision.MAJORITY:
            return self.n_approving * 2 > len(self.members)
        return self.overall_score >= self.threshold


def combine_judgements(
    judgements: Iterable[Judgement], threshold: float, decision: PanelDecision = PanelDecision.MEAN
) -> Panel:
    """Combine judgements of the same evidence.

    A judge that was asked more often than others does not count more than they do. Fallbacks are
    counted and enter no figure.

    Args:
        judgements: Of any number of judges, in any order.
        threshold: Overall score, 0.0 to 10.0, from which on the agent is approved.
        decision: How the judges decide together.
    """
    by_judge: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        by_judge.setdefault(judgement.judge, []).append(judgement)
    members = tuple(_summarise_member(judge, made) for judge, made in by_judge.items())
    overall = [member.overall.mean for member in members if member.overall is not None]
    dimensions = _group_by_name(members, lambda member: member.dimensions)
    cases = _group_by_name(members, lambda member: member.cases)
    decide = statistics.fmean if decision is PanelDecision.MEAN else statistics.median
    return Panel(
        decision=decision,
        threshold=threshold,
        members=members,
        overall_score=round(decide(overall), 2) if overall else None,
        scores={name: round(decide(means), 2) for name, means in dimensions.items()},
        case_scores={name: round(decide(means), 2) for name, means in cases.items()},
        n_approving=sum(mean >= threshold for mean in overall),
        disagreement=_compute_width(overall),
        dimension_disagreement={name: _compute_width(means) for name, means in dimensions.items()},
        alpha=compute_krippendorff_alpha(list(cases.values())),
    )


def _summarise_member(judge: str, judgements: Sequence[Judgement]) -> PanelMember:
    usable = [judgement for judgement in judgements if not judgement.is_fallback]
    dimensions: dict[str, list[float]] = {}
    cases: dict[str, list[float]] = {}
    for judgement in usable:
        for name, score in judgement.scores.items():
            dimensions.setdefault(name, []).append(score)
        for case in judgement.scored_cases:
            cases.setdefault(case.test_name, []).append(case.score)
    return PanelMember(
        judge=judge,
        n_fallbacks=len(judgements) - len(usable),
        is_self_judged=any(judgement.is_self_judged for judgement in judgements),
        overall=compute_spread([item.overall_score for item in usable]) if usable else None,
        dimensions={name: compute_spread(scores) for name, scores in dimensions.items()},
        cases={name: compute_spread(scores) for name, scores in cases.items()},
    )


def _group_by_name(
    members: Iterable[PanelMember], spreads_of: Callable[[PanelMember], Mapping[str, JudgeSpread]]
) -> dict[str, list[float]]:
    """Collect every judge's mean by name."""
    means: dict[str, list[float]] = {}
    for member in members:
        for name, spread in spreads_of(member).items():
            means.setdefault(name, []).append(spread.mean)
    return means


def _compute_width(means: Sequence[float]) -> float:
    return max(means) - min(means) if means else 0.0
