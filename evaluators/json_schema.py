"""Validates a JSON answer with a schema and compares its fields with expected values.

With `schema`, an invalid answer scores 0. With `expected`, the score is the share of expected
fields with the correct value, and the details name the fields that differ. Additional fields do
not count unless `forbid_other_fields` is set. An answer within another JSON value, such as
`{"result": {...}}`, counts where only that fits, but the strict score is then 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.field_comparison import compare_fields
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import extract_json, open_envelopes
from poor_bench.extraction.schema_check import build_validator
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_MAX_NAMED = 10


class Parameters(BaseModel):
    """Parameters of `json_schema`: at least one of `schema` and `expected` is required."""

    model_config = ConfigDict(extra="forbid")

    schema_: dict[str, Any] | None = Field(
        default=None, alias="schema", description="JSON Schema that the answer must satisfy."
    )
    expected: dict[str, Any] | list[Any] | None = Field(
        default=None, description="Values that the answer must contain."
    )
    forbid_other_fields: bool = Field(
        default=False, description="Count additional fields as wrong."
    )
    strict: bool = Field(default=False, description="Accept only valid JSON, without other text.")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.schema_ is None and self.expected is None:
            raise ValueError("give `schema`, `expected`, or both")
        if self.schema_ is not None:
            build_validator(json.dumps(self.schema_))
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score validity, or the share of expected fields in a valid answer."""
    wanted = Parameters.model_validate(parameters)
    extracted = extract_json(without_thinking(response, keep_invisible=True))
    if extracted is not None:
        extracted = _open_envelope(extracted, wanted)
    if extracted is None:
        return Verdict(
            0.0, "found no JSON", found=Found.MISSING, expected=_write_value(wanted.expected)
        )
    problems = list(_list_schema_problems(extracted.value, wanted))
    score = 0.0 if problems else 1.0
    if wanted.expected is not None and not problems:
        comparison = compare_fields(
            wanted.expected, extracted.value, forbid_others=wanted.forbid_other_fields
        )
        score = comparison.share_right
        problems = [str(difference) for difference in comparison.differences]
    return apply_format_rule(
        score,
        _write_details(problems),
        broken=extracted.found.wrapping,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=_write_value(wanted.expected),
        got=_write_value(extracted.value),
    )


def wants(parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    wanted = Parameters.model_validate(parameters)
    kind = (wanted.schema_ or {}).get("type")
    if kind == "array" or isinstance(wanted.expected, list):
        return AnswerFormat.JSON_LIST
    is_object = kind == "object" or isinstance(wanted.expected, dict)
    return AnswerFormat.JSON_OBJECT if is_object else AnswerFormat.JSON


def reference(parameters: Mapping[str, Any]) -> str | None:
    """Write the expected values, where they are given."""
    expected = Parameters.model_validate(parameters).expected
    return None if expected is None else json.dumps(expected, ensure_ascii=False)


def _open_envelope(extracted: Extracted[Any], wanted: Parameters) -> Extracted[Any]:
    """Take out the value that fits, where the whole does not."""
    if _fits(extracted.value, wanted):
        return extracted
    inner = next((value for value in open_envelopes(extracted.value) if _fits(value, wanted)), None)
    return extracted if inner is None else Extracted(inner, Found.ENVELOPED, extracted.text)


def _fits(value: Any, wanted: Parameters) -> bool:
    """True if a value may be the answer: it has the schema, or else something of what is asked."""
    if wanted.schema_ is not None:
        return not any(_list_schema_problems(value, wanted))
    if isinstance(wanted.expected, dict):
        fields = value.keys() if isinstance(value, dict) else set()
        return not wanted.expected or not wanted.expected.keys().isdisjoint(fields)
    return isinstance(value, list)


def _list_schema_problems(value: Any, wanted: Parameters) -> Iterator[str]:
    if wanted.schema_ is None:
        return
    for error in build_validator(json.dumps(wanted.schema_)).iter_errors(value):
        yield f"{error.json_path}: {error.message:.200}"


def _write_details(problems: list[str]) -> str:
    if not problems:
        return "as expected"
    n_more = len(problems) - _MAX_NAMED
    more = [f"and {n_more} more"] if n_more > 0 else []
    return "; ".join([*problems[:_MAX_NAMED], *more])


def _write_value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
