"""Runs several evaluators and takes the highest score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.scoring import Verdict
from poor_bench.scoring.judging import EvaluationContext, Part, evaluate_parts, number_parts


class Parameters(BaseModel):
    """Parameters of `any_of`."""

    model_config = ConfigDict(extra="forbid")

    evaluators: list[Part] = Field(
        min_length=1, description="Evaluators to run; the highest score counts."
    )


def evaluate(
    response: str, parameters: Mapping[str, Any], *, context: EvaluationContext
) -> Verdict:
    """Score the highest of the evaluators' scores."""
    wanted = Parameters.model_validate(parameters)
    return evaluate_parts(response, wanted.evaluators, context, max)


def parts(parameters: Mapping[str, Any]) -> Mapping[str, Part]:
    """Number the evaluators by their place in the parameters."""
    return number_parts(Parameters.model_validate(parameters).evaluators)
