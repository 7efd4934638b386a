"""Compares the number in the answer with the expected one, within a tolerance.

The prompt asks for a number alone. A number in other text is also found (the rules are in
`poor_bench.extraction.number`), but the strict score is then 0. `45%` counts as 45 and as 0.45.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.found import Found
from poor_bench.extraction.parameter_types import ExactNumber, Locale, has_decimal_comma
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule


class Parameters(BaseModel):
    """Parameters of `number_match`."""

    model_config = ConfigDict(extra="forbid")

    expected: ExactNumber = Field(description="The correct number.")
    absolute_tolerance: ExactNumber = Field(
        default=Decimal(0), ge=0, description="Largest accepted difference."
    )
    relative_tolerance: ExactNumber = Field(
        default=Decimal(0),
        ge=0,
        description="Largest accepted difference as a share of the expected number.",
    )
    strict: bool = Field(default=False, description="Accept only a number, without other text.")
    locale: Locale = None


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the number is within tolerance, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    extracted = extract_number(
        without_thinking(response), decimal_comma=has_decimal_comma(wanted.locale)
    )
    expected = f"{wanted.expected:f}"
    if extracted is None:
        return Verdict(
            0.0, f"expected {expected}, found no number", found=Found.MISSING, expected=expected
        )
    number = extracted.value
    tolerance = max(wanted.absolute_tolerance, wanted.relative_tolerance * abs(wanted.expected))
    near = [value for value in number.readings if abs(value - wanted.expected) <= tolerance]
    got = f"{(near or number.readings)[0]:f}"
    within = f" (tolerance {tolerance:f})" if tolerance else ""
    return apply_format_rule(
        1.0 if near else 0.0,
        f"{'correct' if near else 'incorrect'}: expected {expected}, got {got}{within}",
        broken=extracted.found.wrapping,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=expected,
        got=got,
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.NUMBER


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the right number."""
    return f"{Parameters.model_validate(parameters).expected:f}"
