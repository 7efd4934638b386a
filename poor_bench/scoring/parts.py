"""Evaluators that are made of other evaluators: their parts, and many verdicts as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.scoring.judging import EvaluationContext
from poor_bench.scoring.verdict import Verdict


class Part(BaseModel):
    """An evaluator in the parameters of another one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="Name of an evaluator.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the evaluator."
    )


def parts_by_place(parts: Sequence[Part]) -> Mapping[str, Part]:
    """Return parts by where they stand in the parameters, such as `evaluators[0]`."""
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
    strict_score = combine([_strict_score(verdict) for verdict in verdicts])
    return Verdict(
        score,
        "\n".join(_line(part, verdict) for part, verdict in zip(parts, verdicts, strict=True)),
        strict_score=None if all(v.strict_score is None for v in verdicts) else strict_score,
    )


def _strict_score(verdict: Verdict) -> float:
    return verdict.score if verdict.strict_score is None else verdict.strict_score


def _line(part: Part, verdict: Verdict) -> str:
    details = verdict.details.replace("\n", "\n  ")
    return f"- {part.name} {verdict.score:.2f}: {details}"
