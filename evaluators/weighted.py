"""Runs several evaluators and takes the weighted mean of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.scoring import Verdict
from poor_bench.scoring.judging import EvaluationContext, Part, evaluate_parts, number_parts


class WeightedPart(Part):
    """One evaluator and the weight of its score."""

    weight: float = Field(
        default=1.0, gt=0, le=1000, description="Weight of the score, relative to the others."
    )


class Parameters(BaseModel):
    """Parameters of `weighted`."""

    model_config = ConfigDict(extra="forbid")

    evaluators: list[WeightedPart] = Field(
        min_length=1, description="Evaluators to run; their scores are averaged."
    )


def evaluate(
    response: str, parameters: Mapping[str, Any], *, context: EvaluationContext
) -> Verdict:
    """Score the weighted mean of the evaluators' scores."""
    wanted = Parameters.model_validate(parameters)
    total = sum(part.weight for part in wanted.evaluators)

    def mean(scores: Sequence[float]) -> float:
        weighted = zip(wanted.evaluators, scores, strict=True)
        return min(1.0, sum(part.weight * score for part, score in weighted) / total)

    return evaluate_parts(response, wanted.evaluators, context, mean)


def parts(parameters: Mapping[str, Any]) -> Mapping[str, Part]:
    """Number the evaluators by their place in the parameters."""
    return number_parts(Parameters.model_validate(parameters).evaluators)
