"""An LLM judges the response by a rubric: for answers that no rule can score.

The score is the judge's overall score, computed from the rubric's dimensions, as a share of 10.
Who judges is `judge`, an LLM of llms.json; without it the judge of the workspace (config.yaml, or
Claude Opus). The judge sees the prompt, the response and what was expected, and is not told which
model wrote it. It is asked after the run's own LLMs are done; a judge that cannot be asked or
understood leaves the test pending, and the response is kept for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from poor_bench.scoring.judging import LARGEST_SCORE, AskJudge, JudgeAnswer, JudgeQuestion
from poor_bench.scoring.verdict import Verdict


class Parameters(BaseModel):
    """How a response is judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: str = Field("", description="LLM id of the judge; the workspace's judge by default.")
    rubric: str = Field(
        "",
        description="Markdown with dimensions such as `### 1. TONE (30%)`, or a `.md` file of the "
        "workspace; correctness, completeness and clarity by default.",
    )
    criteria: tuple[str, ...] = Field(
        (), description="What a good response does; a rubric of equal weights where there is none."
    )
    expected_behavior: str = Field("", description="What a good response to this test does.")
    threshold: float | None = Field(
        None, ge=0, le=LARGEST_SCORE, description="Overall score, 0 to 10, that counts as approved."
    )
    samples: int = Field(
        1, ge=1, le=20, description="How often the judge is asked; the mean counts."
    )

    @field_validator("criteria", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


def question(parameters: Mapping[str, Any]) -> JudgeQuestion:
    """Return what the judge is asked about every response."""
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
        _details(answer, wanted.threshold),
        expected=wanted.expected_behavior,
    )


def _details(answer: JudgeAnswer, threshold: float | None) -> str:
    lines = [f"{answer.judge} gives {answer.overall_score:.1f} of 10{_approval(answer, threshold)}"]
    lines += [f"- {name}: {score:.1f}" for name, score in answer.scores.items()]
    lines += [f"- {text}" for text in answer.feedback if text]
    if answer.spread is not None:
        lines.append(f"- spread over the samples: {answer.spread:.1f}")
    if answer.is_self_judged:
        lines.append("- judged by the model that wrote it: self-judging favours its own")
    lines += [f"- note: {warning}" for warning in answer.warnings]
    return "\n".join(lines)


def _approval(answer: JudgeAnswer, threshold: float | None) -> str:
    if threshold is None:
        return ""
    word = "approved" if answer.overall_score >= threshold else "not approved"
    return f", {word} (from {threshold:g} on)"
