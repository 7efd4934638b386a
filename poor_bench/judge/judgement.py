"""Judgement of an agent or a response; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from statistics import fmean
from typing import Any

from pydantic import TypeAdapter

from poor_bench.errors import RecordedError
from poor_bench.judge.prompt import JudgedCase
from poor_bench.models.completion import Usage
from poor_bench.models.failure import FailureKind

APPROVAL_THRESHOLD = 8.0
"""Lowest overall score that approves an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEvaluation:
    """Judgement of one case."""

    test_name: str
    score: float
    """0.0 to 10.0."""
    passed: bool
    feedback: str = ""
    is_unscored: bool = False
    """The judge gave no score: `score` is a place holder that enters no mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One judgement; scores go from 0.0 to 10.0.

    A judge that could not be asked or understood leaves a judgement with `is_fallback`: its scores
    are place holders that approve nothing and enter no mean.
    """

    overall_score: float
    """Mean of `scores` by the rubric's weights, computed here; never what the judge claims."""
    scores: Mapping[str, float]
    """Dimension to score."""
    test_case_evaluations: tuple[CaseEvaluation, ...] = ()
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """Failures of the cases; in a fallback, the reason."""
    warnings: tuple[str, ...] = ()
    """The judge's own, then `repairs`."""
    recommendations: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    """Values filled in, clamped or normalised, and options that the judge's server rejected."""
    judge: str = ""
    """Id of the LLM that judged."""
    usage: Usage = field(default_factory=Usage)
    """Tokens of all attempts together."""
    cost_usd: float | None = None
    attempts: int = 1
    """Number of requests, at least 1; transport retries are not counted."""
    is_fallback: bool = False
    error: str = ""
    """Reason for a missing judgement; else empty."""
    threshold: float = APPROVAL_THRESHOLD
    rubric_name: str = ""
    rubric_hash: str = ""
    prompt_version: str = ""
    is_self_judged: bool = False
    """The judge is the model that wrote what it judged."""
    timestamp: str = ""
    """ISO 8601, UTC."""
    time_ms: float | None = None
    """Of all attempts together."""
    reply: str = ""
    """The judge's last reply as it came."""

    @property
    def is_approved(self) -> bool:
        """True if the overall score reaches the threshold; False for a fallback."""
        return not self.is_fallback and self.overall_score >= self.threshold

    @property
    def scored_cases(self) -> tuple[CaseEvaluation, ...]:
        """The cases that the judge scored."""
        return tuple(case for case in self.test_case_evaluations if not case.is_unscored)

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON values; `judgement_from_dict` reads them."""
        plain = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        for case in plain["test_case_evaluations"]:
            if not case["is_unscored"]:
                del case["is_unscored"]
        return {**plain, "approved": self.is_approved}


def judgement_from_dict(record: Mapping[str, Any]) -> Judgement:
    """Read a judgement written by `Judgement.as_dict`; unknown keys are ignored.

    Raises:
        ValueError: If the record is not one.
    """
    return _build_reader().validate_python(record)


@cache
def _build_reader() -> TypeAdapter[Judgement]:
    return TypeAdapter(Judgement)


FALLBACK_SCORE = 5.0


def make_fallback_judgement(
    so_far: Judgement, dimensions: Iterable[str], cases: Iterable[JudgedCase], error: str
) -> Judgement:
    """Build the fallback.

    Args:
        so_far: Who was to judge what, and what the attempts took.
        dimensions: Names of the rubric's dimensions.
        cases: What was to be judged.
        error: Why no judgement exists.
    """
    return replace(
        so_far,
        overall_score=FALLBACK_SCORE,
        scores=dict.fromkeys(dimensions, FALLBACK_SCORE),
        test_case_evaluations=tuple(
            CaseEvaluation(
                test_name=case.name, score=FALLBACK_SCORE, passed=False, feedback="not judged"
            )
            for case in cases
        ),
        failures=(error,),
        is_fallback=True,
        error=error,
    )


class JudgeError(RecordedError):
    """The judgement failed; recorded as a failure, never as a score.

    Where a provider failed, its error is the `__cause__`.

    Attributes:
        fallback: The judgement that stands in, with what the attempts cost.
        is_too_long: True if fewer cases at once might be judged: prompt or reply had no room.
    """

    def __init__(
        self, message: str, fallback: Judgement, *, hint: str = "", is_too_long: bool = False
    ) -> None:
        super().__init__(message, kind=FailureKind.JUDGE, hint=hint)
        self.fallback = fallback
        self.is_too_long = is_too_long


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParts:
    """Mean scores of the usable judgements of one answer."""

    judge: str
    scores: Mapping[str, float]
    """Dimension to its mean score, 0.0 to 10.0."""
    n: int
    """Judgements that the means are over."""
    n_failed: int
    """Judgements without a score; they are in no mean."""


def read_answer_parts(record: Mapping[str, Any] | None) -> AnswerParts | None:
    """Read the parts of a stored judgement; None where no judgement has scores.

    Example:
        >>> usable = {"scores": {"tone": 8.0}, "judge": "a:b"}
        >>> failed = {"scores": {"tone": 0.0}, "is_fallback": True}
        >>> parts = read_answer_parts({"samples": [failed, usable]})
        >>> parts.scores, parts.n, parts.n_failed
        ({'tone': 8.0}, 1, 1)
    """
    stored = (record or {}).get("samples")
    samples = (
        [each for each in stored if isinstance(each, dict)] if isinstance(stored, list) else []
    )
    usable = [each for each in samples if not each.get("is_fallback") and _read_scores(each)]
    if not usable:
        return None
    scores = [_read_scores(each) for each in usable]
    names = [name for name in scores[0] if all(name in each for each in scores)]
    return AnswerParts(
        judge=str((record or {}).get("judge") or usable[0].get("judge") or ""),
        scores={name: fmean(each[name] for each in scores) for name in names},
        n=len(usable),
        n_failed=len(samples) - len(usable),
    )


def _read_scores(sample: Mapping[str, Any]) -> dict[str, float]:
    scores = sample.get("scores")
    known = scores.items() if isinstance(scores, dict) else ()
    return {
        str(name): float(score)
        for name, score in known
        if isinstance(score, int | float) and not isinstance(score, bool)
    }
