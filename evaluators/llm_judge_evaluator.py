"""Lets a model judge the response by a rubric, for answers that no rule can score.

The score is the judge's overall score divided by 10. The overall score is computed from the
dimensions of the rubric. `judge` is a model of llms.json; by default it is the judge of the
workspace (config.yaml, or Claude Opus). The judge sees the prompt, the response and the expected
behavior. It does not see the name of the model that wrote the response. Judging starts after the
models of the run have answered. If the judge fails or its reply cannot be read, the response is
stored and the test stays pending.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from poor_bench.scoring.judging import LARGEST_SCORE, AskJudge, JudgeAnswer, JudgeQuestion
from poor_bench.scoring.verdict import Verdict


class Parameters(BaseModel):
    """Parameters of `llm_judge_evaluator`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: str = Field("", description="LLM id of the judge; the workspace's judge by default.")
    rubric: str = Field(
        "",
        description="Markdown with dimensions such as `### 1. TONE (30%)`, or a `.md` file of the "
        "workspace. Default: correctness, completeness and clarity.",
    )
    criteria: tuple[str, ...] = Field(
        (), description="Criteria of a good response, with equal weights; used without `rubric`."
    )
    expected_behavior: str = Field("", description="Behavior expected in this test.")
    threshold: float | None = Field(
        None, ge=0, le=LARGEST_SCORE, description="Lowest approved overall score, from 0 to 10."
    )
    samples: int = Field(1, ge=1, le=20, description="Number of judgements; the mean score counts.")

    @field_validator("criteria", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


def question(parameters: Mapping[str, Any]) -> JudgeQuestion:
    """Build the question to the judge about every response."""
    wanted = Parameters.model_validate(parameters)
    return JudgeQuestion(
        judge=wanted.judge,
        rubric=wanted.rubric,
        criteria=wanted.criteria,
        expected_behavior=wanted.expected_behavior,
        samples=wanted.samples,
    )


def evaluate(response: str, parameters: Mapping[str, Any], *, judge: AskJudge) -> Verdict:
    """Score a response by the mean of a judge's samples."""
    wanted = Parameters.model_validate(parameters)
    answer = judge(response, question(parameters))
    return Verdict(
        answer.overall_score / LARGEST_SCORE,
        _write_details(answer, wanted.threshold),
        expected=wanted.expected_behavior,
    )


def _write_details(answer: JudgeAnswer, threshold: float | None) -> str:
    lines = [
        f"{answer.judge} gives {answer.overall_score:.1f} of 10{_write_approval(answer, threshold)}"
    ]
    lines += [f"- {name}: {score:.1f}" for name, score in answer.scores.items()]
    lines += [f"- {text}" for text in answer.feedback if text]
    if answer.spread is not None:
        lines.append(f"- spread over the samples: {answer.spread:.1f}")
    if answer.is_self_judged:
        lines.append("- judged by the model that wrote it: self-judging favours its own")
    lines += [f"- note: {warning}" for warning in answer.warnings]
    return "\n".join(lines)


def _write_approval(answer: JudgeAnswer, threshold: float | None) -> str:
    if threshold is None:
        return ""
    word = "approved" if answer.overall_score >= threshold else "not approved"
    return f", {word} (from {threshold:g} on)"
