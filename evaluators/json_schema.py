"""Checks a JSON answer against a schema, and field by field against expected values.

With `schema`, an answer that is not valid scores 0. With `expected`, the score is the share of
expected fields that are right; details name the ones that differ. Fields that are not expected do
not count unless `forbid_other_fields` is set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.found import Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.answer_format import AnswerFormat
from poor_bench.scoring.format_rule import under_format_rule

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MAX_NAMED = 10
_UNSET: Any = object()


class Parameters(BaseModel):
    """Parameters of `json_schema`: at least one of `schema` and `expected`."""

    model_config = ConfigDict(extra="forbid")

    schema_: dict[str, Any] | None = Field(
        default=None, alias="schema", description="JSON schema that the answer must be valid by."
    )
    expected: dict[str, Any] | list[Any] | None = Field(
        default=None, description="Values that the answer must have."
    )
    forbid_other_fields: bool = Field(
        default=False, description="Whether fields that are not expected are wrong."
    )
    strict: bool = Field(default=False, description="Accept only sound JSON, nothing around.")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.schema_ is None and self.expected is None:
            raise ValueError("give schema, expected, or both")
        if self.schema_ is not None:
            _validator(json.dumps(self.schema_))
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score validity, or the share of expected fields in a valid answer."""
    wanted = Parameters.model_validate(parameters)
    extracted = extract_json(without_thinking(response))
    if extracted is None:
        return Verdict(0.0, "found no JSON", found=Found.MISSING, expected=_shown(wanted.expected))
    problems = list(_schema_problems(extracted.value, wanted))
    score = 0.0 if problems else 1.0
    if wanted.expected is not None and not problems:
        score, problems = _compare(wanted, extracted.value)
    return under_format_rule(
        score,
        _details(problems),
        broken=extracted.found.wrapping,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=_shown(wanted.expected),
        got=_shown(extracted.value),
    )


def wants(parameters: Mapping[str, Any]) -> AnswerFormat:
    """Return what the prompt should ask for."""
    wanted = Parameters.model_validate(parameters)
    kind = (wanted.schema_ or {}).get("type")
    if kind == "array" or isinstance(wanted.expected, list):
        return AnswerFormat.JSON_LIST
    is_object = kind == "object" or isinstance(wanted.expected, dict)
    return AnswerFormat.JSON_OBJECT if is_object else AnswerFormat.JSON


def reference(parameters: Mapping[str, Any]) -> str | None:
    """Return the expected values, where they are given."""
    expected = Parameters.model_validate(parameters).expected
    return None if expected is None else json.dumps(expected, ensure_ascii=False)


def _schema_problems(value: Any, wanted: Parameters) -> Iterator[str]:
    if wanted.schema_ is None:
        return
    for error in _validator(json.dumps(wanted.schema_)).iter_errors(value):
        yield f"{error.json_path}: {error.message:.200}"


def _compare(wanted: Parameters, got: Any) -> tuple[float, list[str]]:
    """Return the share of right fields, and what is wrong with the others."""
    fields = list(_fields(wanted.expected, got, "$"))
    problems = [problem for problem in fields if problem]
    if wanted.forbid_other_fields:
        others = list(_other_fields(wanted.expected, got, "$"))
        fields += others
        problems += others
    return 1 - len(problems) / len(fields) if fields else 1.0, problems


def _fields(expected: Any, got: Any, path: str) -> Iterator[str]:
    """Yield for every expected field what is wrong with it, or an empty text."""
    if isinstance(expected, dict) and expected:
        members = got if isinstance(got, dict) else {}
        for key, value in expected.items():
            yield from _fields(value, members.get(key, _UNSET), f"{path}.{key}")
    elif isinstance(expected, list) and expected:
        items = got if isinstance(got, list) else []
        for index, value in enumerate(expected):
            item = items[index] if index < len(items) else _UNSET
            yield from _fields(value, item, f"{path}[{index}]")
    elif got is _UNSET:
        yield f"{path}: missing"
    elif type(expected) is not type(got) and not _are_numbers(expected, got):
        yield f"{path}: expected {expected!r:.80}, got {got!r:.80}"
    else:
        yield "" if expected == got else f"{path}: expected {expected!r:.80}, got {got!r:.80}"


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _other_fields(expected: Any, got: Any, path: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in got.items():
            if key not in expected:
                yield f"{path}.{key:.80}: not expected"
            else:
                yield from _other_fields(expected[key], value, f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        if len(got) > len(expected):
            yield f"{path}: {len(got)} items, expected {len(expected)}"
        for index, (ours, theirs) in enumerate(zip(expected, got, strict=False)):
            yield from _other_fields(ours, theirs, f"{path}[{index}]")


def _details(problems: list[str]) -> str:
    if not problems:
        return "as expected"
    n_more = len(problems) - _MAX_NAMED
    more = [f"and {n_more} more"] if n_more > 0 else []
    return "; ".join([*problems[:_MAX_NAMED], *more])


def _shown(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=64)
def _validator(schema: str) -> Validator:
    """Return the validator of a schema given as JSON.

    Raises:
        ValueError: If it is not a JSON schema.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    document = json.loads(schema)
    kind = validator_for(document, default=Draft202012Validator)
    try:
        kind.check_schema(document)
    except SchemaError as error:
        raise ValueError(f"not a JSON schema: {error.json_path}: {error.message:.200}") from error
    # With a registry of its own the validator never fetches a reference from elsewhere.
    return kind(document, registry=Registry())
