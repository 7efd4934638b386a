"""Combine the judgements of several judges; pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.judge.agreement.krippendorff import krippendorff_alpha
from poor_bench.judge.agreement.spread import Spread, spread_of
from poor_bench.judge.judgement import Judgement


class Decision(StrEnum):
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
    overall: Spread | None
    """None where it never came to a judgement."""
    dimensions: Mapping[str, Spread]
    cases: Mapping[str, Spread]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Combined result of all judges; a single judge is a panel of one."""

    decision: Decision
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
        if self.decision is Decision.MAJORITY:
            return self.n_approving * 2 > len(self.members)
        return self.overall_score >= self.threshold


def panel_of(
    judgements: Iterable[Judgement], threshold: float, decision: Decision = Decision.MEAN
) -> Panel:
    """Combine judgements of the same subject.

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
    members = tuple(_member(judge, made) for judge, made in by_judge.items())
    overall = [member.overall.mean for member in members if member.overall is not None]
    dimensions = _by_name(members, lambda member: member.dimensions)
    cases = _by_name(members, lambda member: member.cases)
    decide = statistics.fmean if decision is Decision.MEAN else statistics.median
    return Panel(
        decision=decision,
        threshold=threshold,
        members=members,
        overall_score=round(decide(overall), 2) if overall else None,
        scores={name: round(decide(means), 2) for name, means in dimensions.items()},
        case_scores={name: round(decide(means), 2) for name, means in cases.items()},
        n_approving=sum(mean >= threshold for mean in overall),
        disagreement=_width(overall),
        dimension_disagreement={name: _width(means) for name, means in dimensions.items()},
        alpha=krippendorff_alpha(list(cases.values())),
    )


def _member(judge: str, judgements: Sequence[Judgement]) -> PanelMember:
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
        overall=spread_of([item.overall_score for item in usable]) if usable else None,
        dimensions={name: spread_of(scores) for name, scores in dimensions.items()},
        cases={name: spread_of(scores) for name, scores in cases.items()},
    )


def _by_name(
    members: Iterable[PanelMember], spreads_of: Callable[[PanelMember], Mapping[str, Spread]]
) -> dict[str, list[float]]:
    """Collect every judge's mean by name."""
    means: dict[str, list[float]] = {}
    for member in members:
        for name, spread in spreads_of(member).items():
            means.setdefault(name, []).append(spread.mean)
    return means


def _width(means: Sequence[float]) -> float:
    return max(means) - min(means) if means else 0.0
