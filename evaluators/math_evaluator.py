"""Compares the number in the answer with the expected one, rounded to a number of decimal places.

With `expected_format: json`, the answer is a JSON object with the key `answer`. Some deviations are
accepted, but the strict score is then 0: text around the object, a key in different case, a number
written as a string, or a clearly announced number without JSON. An object with several numbers
counts as no answer unless a key names one of them as the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.answer_number import (
    KEY,
    extract_number,
    find_answer_member,
    holds_key,
    holds_objects,
)
from poor_bench.extraction.found import Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.number import (
    Number,
    read_json_number,
    round_number,
)
from poor_bench.extraction.parameter_types import ExactNumber, Locale, has_decimal_comma
from poor_bench.extraction.thinking import split_thinking, without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_UNMISTAKABLE = {Found.BARE, Found.FENCED, Found.BOXED, Found.ANNOUNCED, Found.STATED}


class Parameters(BaseModel):
    """Parameters of `math_evaluator`."""

    model_config = ConfigDict(extra="forbid")

    expected_answer: ExactNumber = Field(
        description="The correct number; use a string to keep a decimal fraction exact."
    )
    precision: int = Field(
        default=2, ge=0, le=100, description="Decimal places to which both numbers are rounded."
    )
    expected_format: Literal["json", "number"] = Field(
        default="json",
        description="Format the prompt asks for: a JSON object with key `answer`, or a number.",
    )
    strict: bool = Field(default=False, description="Accept only this format, without other text.")
    locale: Locale = None


class _Answer(NamedTuple):
    number: Number | None
    found: Found
    text: str
    broken: str
    """How the format rule was broken; empty where it was kept."""


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the numbers agree, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    split = split_thinking(response)
    read = _read_json_answer if wanted.expected_format == "json" else _read_number_answer
    answer = read(without_thinking(response), has_decimal_comma(wanted.locale))
    expected = round_number(wanted.expected_answer, wanted.precision)
    if answer is None:
        return Verdict(
            0.0,
            f"incorrect: expected {expected:f}, found no number",
            found=Found.MISSING,
            expected=f"{expected:f}",
        )
    got, is_right = _compare(answer.number, expected, wanted.precision)
    thinking = " (after thinking)" if split.thinking else ""
    return apply_format_rule(
        1.0 if is_right else 0.0,
        f"{'correct' if is_right else 'incorrect'}: expected {expected:f}, got {got}{thinking}",
        broken=answer.broken,
        strict=wanted.strict,
        found=answer.found,
        extracted=answer.text,
        expected=f"{expected:f}",
        got=got,
    )


def wants(parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    is_json = Parameters.model_validate(parameters).expected_format == "json"
    return AnswerFormat.JSON_OBJECT if is_json else AnswerFormat.NUMBER


def reference(parameters: Mapping[str, Any]) -> str:
    """Write a right answer in the right format."""
    wanted = Parameters.model_validate(parameters)
    number = f"{wanted.expected_answer:f}"
    return f'{{"{KEY}": {number}}}' if wanted.expected_format == "json" else number


def _compare(number: Number | None, expected: Decimal, precision: int) -> tuple[str, bool]:
    """Write the number that was got, and compare it with the expected one."""
    if number is None:
        return "no number", False
    readings = [round_number(reading, precision) for reading in number.readings]
    got = expected if expected in readings else readings[0]
    return f"{got:f}", got == expected


def _read_json_answer(text: str, decimal_comma: bool) -> _Answer | None:
    extracted = extract_json(text, holds_key, exact=True) or extract_json(
        text, holds_objects, exact=True
    )
    member = find_answer_member(extracted.value) if extracted else None
    if extracted is None or member is None:
        return _find_announced(text, decimal_comma)
    broken = (
        extracted.found.wrapping
        or (f"key {member.key!r:.40} instead of {KEY!r}" if member.key != KEY else "")
        or ("within another value" if KEY not in _read_members(extracted.value) else "")
        or ("the number is a text" if isinstance(member.value, str) else "")
    )
    number = read_json_number(member.value, decimal_comma=decimal_comma)
    return _Answer(number, extracted.found, extracted.text, broken)


def _read_members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _find_announced(text: str, decimal_comma: bool) -> _Answer | None:
    """Find a number that is clearly the answer, though no JSON holds it."""
    extracted = extract_number(text, decimal_comma=decimal_comma)
    if extracted is None or extracted.found not in _UNMISTAKABLE:
        return None
    return _Answer(extracted.value, extracted.found, extracted.text, "no JSON object")


def _read_number_answer(text: str, decimal_comma: bool) -> _Answer | None:
    extracted = extract_number(text, decimal_comma=decimal_comma)
    if extracted is None:
        return None
    return _Answer(extracted.value, extracted.found, extracted.text, extracted.found.wrapping)
