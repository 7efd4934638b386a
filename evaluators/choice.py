"""Compares the selected choice of a multiple-choice answer with the correct one.

The prompt asks for a label alone. A label that the answer announces or begins with is also found
(see `poor_bench.extraction.choice`), but the strict score is then 0.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.choice import extract_choice
from poor_bench.extraction.found import Found
from poor_bench.extraction.normalise import fold_answer
from poor_bench.extraction.thinking import without_thinking
from poor_bench.messages import write_count
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_USUAL_LABELS = list("ABCD")


class Parameters(BaseModel):
    """Parameters of `choice`."""

    model_config = ConfigDict(extra="forbid")

    expected: str = Field(description="Label of the correct choice.")
    labels: list[str] = Field(
        default=[],
        max_length=26,
        description="All labels; by default one letter per choice, or A to D without `choices`.",
    )
    choices: list[str] = Field(
        default=[],
        max_length=26,
        description="Texts of the choices; an answer may give the text instead of the label.",
    )
    strict: bool = Field(
        default=False, description="Accept only a label, without surrounding text."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len({fold_answer(label) for label in self.all_labels} - {""}) < len(self.all_labels):
            raise ValueError(
                f"labels must differ in more than case and punctuation: {self.all_labels}"
            )
        if self.choices and len(self.choices) != len(self.all_labels):
            n_labels = write_count(len(self.all_labels), "label")
            n_choices = write_count(len(self.choices), "choice")
            raise ValueError(f"{n_choices} for {n_labels}: give one choice for each label")
        if self.expected not in self.all_labels:
            raise ValueError(f"expected {self.expected!r} is not a label: {self.all_labels}")
        return self

    @property
    def all_labels(self) -> list[str]:
        """The labels as given, or the usual ones."""
        return self.labels or list(string.ascii_uppercase[: len(self.choices)]) or _USUAL_LABELS


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the correct choice is selected, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    extracted = extract_choice(without_thinking(response), wanted.all_labels, wanted.choices)
    if extracted is None:
        return Verdict(
            0.0,
            f"expected {wanted.expected}, found no single choice",
            found=Found.MISSING,
            expected=wanted.expected,
        )
    is_right = extracted.value == wanted.expected
    return apply_format_rule(
        1.0 if is_right else 0.0,
        f"{'correct' if is_right else 'incorrect'}: expected {wanted.expected}, "
        f"got {extracted.value}",
        broken=extracted.found.wrapping,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=wanted.expected,
        got=extracted.value,
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.CHOICE


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the label of the right choice."""
    return Parameters.model_validate(parameters).expected
