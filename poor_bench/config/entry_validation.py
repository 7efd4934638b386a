"""Check one entry of a file against its model, and say in plain words what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poor_bench.config.file_models import NAME_PATTERN, FileModel
from poor_bench.config.report import Place, Report
from poor_bench.config.unknown_keys import check_keys

Model = TypeVar("Model", bound=FileModel)

_SECRET_KEYS = frozenset({"api_key_env"})
"""Keys whose values are never repeated, since people write secrets there."""

_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
_BROKEN_LIMITS = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "string_unicode": "holds half of a surrogate pair, which is not text",
    "string_pattern_mismatch": "must be one line that neither begins nor ends with a space",
}


def validate_entry(
    model: type[Model], raw: Mapping[str, Any], place: Place, report: Report
) -> Model | None:
    """Return the validated entry, or None where the report says what is wrong with it.

    Args:
        model: What the entry should be.
        raw: The entry as it was parsed.
        place: Where it stands in its file.
        report: Takes unknown keys and everything that is not of the right form.
    """
    meant = check_keys(raw, model, place, report)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        _note_errors(error.errors(include_url=False), raw, place, report, meant)
    return None


def _note_errors(
    errors: Iterable[ErrorDetails],
    raw: Mapping[str, Any],
    place: Place,
    report: Report,
    meant: set[Place],
) -> None:
    expectations: dict[Place, list[str]] = {}
    for error in errors:
        inside = _existing_part(raw, error["loc"])
        if error["type"] == "missing":
            wanted = str(error["loc"][-1])
            if (*place, *inside, wanted) not in meant:
                message = f"`{wanted}` is missing"
                report.error((*place, *inside), message, code="missing-key")
        elif error["type"] in _EXPECTED:
            expectations.setdefault(inside, []).append(_EXPECTED[error["type"]])
        else:
            report.error((*place, *inside), _limit_message(error, inside), code="bad-value")
    for inside, expected in expectations.items():
        message = f"must be {' or '.join(dict.fromkeys(expected))}, not {_shown(raw, inside)}"
        report.error((*place, *inside), message, code="bad-type")


def _existing_part(raw: Any, location: tuple[str | int, ...]) -> Place:
    """Return the beginning of `location` that stands in `raw`; pydantic adds names of types."""
    place: Place = ()
    for part in location:
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            break
        place = (*place, part)
    return place


def _limit_message(error: ErrorDetails, inside: Place) -> str:
    if inside[-1] in _SECRET_KEYS:
        return "must be the name of an environment variable, not a key itself"
    context = error.get("ctx", {})
    if context.get("pattern", NAME_PATTERN) != NAME_PATTERN:
        return f"must match {context['pattern']}"
    sentence = _BROKEN_LIMITS.get(error["type"])
    return sentence.format(**context) if sentence else error["msg"]


def _shown(raw: Any, inside: Place) -> str:
    for part in inside:
        raw = raw[part]
    if inside[-1] in _SECRET_KEYS:
        return type(raw).__name__
    text = json.dumps(raw, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."
