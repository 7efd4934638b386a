"""Services for evaluators beside response and parameters: other evaluators, a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.scoring.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """Handed to an evaluator whose `evaluate` takes a keyword argument `context`."""

    evaluate_by_name: Callable[[str, str, Mapping[str, Any]], Verdict]
    """Score a response with another evaluator: its name, the response, its parameters."""


LARGEST_SCORE = 10.0
"""Judges score from 0 to this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuestion:
    """Question of an evaluator to a judge about a response."""

    judge: str = ""
    """Id of the LLM that judges; the workspace's own judge where empty."""
    rubric: str = ""
    """Markdown, or the path of a `.md` file in the workspace."""
    criteria: tuple[str, ...] = ()
    """Properties of a good response, each a dimension of the same weight; without a rubric."""
    expected_behavior: str = ""
    samples: int = 1
    """How often the judge is asked, at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnswer:
    """Answer of the judge, the mean of all samples; scores from 0.0 to 10.0."""

    overall_score: float
    scores: Mapping[str, float]
    """Dimension to score."""
    feedback: tuple[str, ...] = ()
    """One text per sample."""
    spread: float | None = None
    """Largest minus smallest overall score of the samples; None where there is one sample."""
    judge: str = ""
    """Id of the LLM that judged."""
    is_self_judged: bool = False
    """The judge is the model that wrote the response."""
    warnings: tuple[str, ...] = field(default=())


class AskJudge(Protocol):
    """Handed to an evaluator whose `evaluate` takes a keyword argument `judge`."""

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        """Ask the judge about a response; what the response answers to is known here.

        Raises:
            RecordedError: If there is no judgement; it becomes a failure, never a score.
        """


class Part(BaseModel):
    """An evaluator in the parameters of another one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="Name of an evaluator.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the evaluator."
    )


def number_parts(parts: Sequence[Part]) -> Mapping[str, Part]:
    """Name parts by their place in the parameters, such as `evaluators[0]`."""
    return {f"evaluators[{index}]": part for index, part in enumerate(parts)}


def evaluate_parts(
    response: str,
    parts: Sequence[Part],
    context: EvaluationContext,
    combine: Callable[[Sequence[float]], float],
) -> Verdict:
    """Score a response with every part and combine the scores, lenient and strict ones apart.

    Args:
        response: What the parts score.
        parts: At least one.
        context: The way to other evaluators.
        combine: From the parts' scores, in order, to one; must not fall when one of them rises.

    Returns:
        A verdict whose details list every part's.
    """
    verdicts = [context.evaluate_by_name(part.name, response, part.parameters) for part in parts]
    score = combine([verdict.score for verdict in verdicts])
    strict_score = combine([_compute_strict_score(verdict) for verdict in verdicts])
    return Verdict(
        score,
        "\n".join(
            _write_line(part, verdict) for part, verdict in zip(parts, verdicts, strict=True)
        ),
        strict_score=None if all(v.strict_score is None for v in verdicts) else strict_score,
    )


def _compute_strict_score(verdict: Verdict) -> float:
    return verdict.score if verdict.strict_score is None else verdict.strict_score


def _write_line(part: Part, verdict: Verdict) -> str:
    details = verdict.details.replace("\n", "\n  ")
    return f"- {part.name} {verdict.score:.2f}: {details}"
