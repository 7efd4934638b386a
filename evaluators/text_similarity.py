"""Measures how similar the answer is to a reference text.

The metrics range from 0.0 to 1.0 (see `poor_bench.extraction.text_overlap`). `rouge_l` compares
words in order, `chrf` compares short sequences of characters, and `edit` is the share of characters
that need no change. With several references, the most similar one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.found import Found
from poor_bench.extraction.normalise import fold_text
from poor_bench.extraction.parameter_types import OneOrMoreTexts
from poor_bench.extraction.text_overlap import compute_chrf, compute_edit_ratio, compute_rouge_l
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import MAX_SHOWN, AnswerFormat

_METRICS = {"rouge_l": compute_rouge_l, "chrf": compute_chrf, "edit": compute_edit_ratio}


class Parameters(BaseModel):
    """Parameters of `text_similarity`."""

    model_config = ConfigDict(extra="forbid")

    expected: OneOrMoreTexts = Field(description="A reference text, or a list of them.")
    metric: Literal["rouge_l", "chrf", "edit"] = Field(
        default="rouge_l", description="Measure of similarity."
    )
    threshold: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Similarity from which the score is 1.0; below it, the score is 0.0. Without a "
        "threshold, the score is the similarity.",
    )
    case_sensitive: bool = Field(default=False, description="Distinguish upper and lower case.")


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score the similarity to the most similar reference."""
    wanted = Parameters.model_validate(parameters)
    answer = without_thinking(response).strip()
    if not answer:
        return Verdict(0.0, "no answer", found=Found.MISSING, expected=wanted.expected[0])
    normal = str.strip if wanted.case_sensitive else fold_text
    measure = _METRICS[wanted.metric]
    text = normal(answer)
    similarities = [measure(text, normal(expected)) for expected in wanted.expected]
    similarity = max(similarities)
    details = f"{wanted.metric} {similarity:.3f}"
    score = similarity
    if wanted.threshold is not None:
        score = 1.0 if similarity >= wanted.threshold else 0.0
        details += f", threshold {wanted.threshold:g}"
    return Verdict(
        score,
        details,
        expected=wanted.expected[similarities.index(similarity)],
        got=answer[:MAX_SHOWN],
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.TEXT


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the first reference text."""
    return Parameters.model_validate(parameters).expected[0]
