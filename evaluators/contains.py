"""Searches the answer for required and forbidden texts.

The score is the share of the texts in `all` that occur. It is 0 if no text of `any` occurs, if a
text of `none` occurs, or if the answer is empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.normalise import fold_form, fold_text
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import MAX_SHOWN, AnswerFormat


class Parameters(BaseModel):
    """Parameters of `contains`: at least one of `all`, `any` and `none` is required."""

    model_config = ConfigDict(extra="forbid")

    all: list[str] = Field(default=[], description="Texts that must all occur.")
    any: list[str] = Field(default=[], description="Texts of which at least one must occur.")
    none: list[str] = Field(default=[], description="Texts that must not occur.")
    case_sensitive: bool = Field(default=False, description="Distinguish upper and lower case.")
    whole_words: bool = Field(
        default=False, description="Match whole words: `art` is not in `party`."
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        texts = [*self.all, *self.any, *self.none]
        if not texts:
            raise ValueError("give texts for at least one of `all`, `any` and `none`")
        if not all(text.strip() for text in texts):
            raise ValueError("empty texts are not allowed: they occur in every answer")
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score the share of required texts that occur."""
    wanted = Parameters.model_validate(parameters)
    answer = without_thinking(response)
    if not answer.strip():
        return Verdict(0.0, "no answer")
    finder = _Finder(answer, wanted)
    missing = [text for text in wanted.all if not finder.has(text)]
    forbidden = [text for text in wanted.none if finder.has(text)]
    lacks_any = bool(wanted.any) and not any(finder.has(text) for text in wanted.any)
    faults = [
        *(f"lacks {text!r:.80}" for text in missing),
        *(f"has {text!r:.80}, which it must not" for text in forbidden),
        *(f"has none of {wanted.any!r:.200}" for _ in range(lacks_any)),
    ]
    if forbidden or lacks_any:
        score = 0.0
    else:
        score = 1 - len(missing) / len(wanted.all) if wanted.all else 1.0
    details = "; ".join(faults) or "all requirements are met"
    return Verdict(score, details, got=answer.strip()[:MAX_SHOWN])


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.TEXT


def reference(parameters: Mapping[str, Any]) -> str | None:
    """Write the required texts on lines of their own, where that is a right answer."""
    wanted = Parameters.model_validate(parameters)
    response = "\n".join([*wanted.all, *wanted.any[:1]])
    return response if response and evaluate(response, parameters).score == 1.0 else None


class _Finder:
    """Looks for texts in one answer."""

    def __init__(self, answer: str, wanted: Parameters) -> None:
        self._wanted = wanted
        self._answer = self._normal(answer)

    def has(self, text: str) -> bool:
        text = self._normal(text)
        if not self._wanted.whole_words:
            return text in self._answer
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self._answer) is not None

    def _normal(self, text: str) -> str:
        return fold_form(text) if self._wanted.case_sensitive else fold_text(text)
