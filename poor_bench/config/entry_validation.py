"""Check the entries of a file against their model, and say in plain words what is wrong.

A key that no model knows is a typing error, or would be ignored without a word.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poor_bench.config.document import Document, Place, Report
from poor_bench.config.file_models import NAME_PATTERN, FileModel
from poor_bench.config.names import find_misspelt_name, name_hint


def is_comment(key: str) -> bool:
    """Tell whether a key is a user's remark or an editor's, such as `_comment` or `$schema`."""
    return key.startswith(("_", "$"))


def drop_comments(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the comments from `raw`."""
    return {key: value for key, value in raw.items() if not is_comment(key)}


def check_keys(
    raw: Mapping[str, Any], model: type[FileModel], place: Place, report: Report
) -> set[Place]:
    """Note the unknown keys of one entry and of the models within it.

    A key that is nearly a valid one is an error, since it is surely a typing error. Any other
    unknown key is a warning, unless the model keeps other keys. Free keys are not looked at.

    Returns:
        The places that were meant, by the typing errors that were found.
    """
    meant: set[Place] = set()
    known = _find_inner_models(model)
    for key, value in raw.items():
        if key in known:
            if (inner := known[key]) is not None:
                for inside, part in _find_mappings(value):
                    meant |= check_keys(part, inner, (*place, key, *inside), report)
        elif not is_comment(key) and not model.has_free_keys:
            near = _note_unknown(key, model, place, report)
            if near is not None:
                meant.add((*place, near))
    return meant


def _find_mappings(value: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield a mapping, or the mappings of a list, with their places."""
    if isinstance(value, dict):
        yield (), value
    elif isinstance(value, list):
        yield from (((index,), item) for index, item in enumerate(value) if isinstance(item, dict))


def _note_unknown(key: str, model: type[FileModel], place: Place, report: Report) -> str | None:
    near = find_misspelt_name(key, model.model_fields)
    if near is not None:
        hint = f"did you mean `{near}`? Keys that begin with `_` are comments"
        report.error((*place, key), f"unknown key `{key}`", hint=hint, code="misspelt-key")
    elif not model.keeps_other_keys:
        hint = name_hint(key, model.model_fields)
        report.warning((*place, key), "this key is not used", hint=hint, code="unknown-key")
    return near


@functools.cache
def _find_inner_models(model: type[FileModel]) -> dict[str, type[FileModel] | None]:
    """Find the known keys, each with the model of what stands under it, where there is one."""
    return {name: _find_model(field.annotation) for name, field in model.model_fields.items()}


def _find_model(annotation: Any) -> type[FileModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, FileModel):
            return candidate
    return None


_FORMAT = "1"
"""Major number of the file format; files without a version are of this one."""


def list_entries(
    document: Document, key: str, report: Report
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the entries of a file with their places.

    Args:
        document: A file such as `{"version": "1.0", "tests": [...]}`, or the bare list.
        key: The key under which the entries stand.
        report: Takes what is wrong with the top level, and entries that are not mappings.
    """
    items, place = _find_list(document.data, key, report)
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield (*place, index), item
        else:
            message = f"must be a mapping of keys to values, not {type(item).__name__}"
            report.error((*place, index), message, code="bad-type")


def list_written_ids(document: Document, key: str, id_key: str) -> frozenset[str]:
    """List the ids of all entries of a file, valid or not."""
    silent = Report("")
    ids = (raw.get(id_key) for _, raw in list_entries(document, key, silent))
    return frozenset(written for written in ids if isinstance(written, str))


def _find_list(data: Any, key: str, report: Report) -> tuple[list[Any], Place]:
    if isinstance(data, list):
        return data, ()
    if not isinstance(data, dict):
        report.error((), f"must be a mapping with the key `{key}`", code="bad-type")
        return [], ()
    _check_top_level(data, key, report)
    items = data.get(key, [])
    if not isinstance(items, list):
        report.error((key,), "must be a list", code="bad-type")
        return [], ()
    return items, (key,)


def _check_top_level(data: dict[str, Any], key: str, report: Report) -> None:
    if key not in data:
        written = next((name for name in data if name != "version" and not is_comment(name)), "")
        hint = name_hint(written, [key]) if written else ""
        report.error((), f"the key `{key}` is missing", hint=hint, code="missing-key")
    for name in data:
        if name not in {key, "version"} and not is_comment(name) and key in data:
            report.warning((name,), "this key is not used", code="unknown-key")
    check_version(data, report)


def check_version(data: Mapping[str, Any], report: Report) -> None:
    """Note a file whose format is of another major number than ours."""
    version = str(data.get("version", _FORMAT))
    if version.partition(".")[0] != _FORMAT:
        message = f"this is a file of format {version:.20}; format {_FORMAT}.0 is understood"
        report.error(("version",), message, code="bad-version")


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
    """Validate an entry; None where the report says what is wrong with it.

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
        inside = _find_existing_part(raw, error["loc"])
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
        message = f"must be {' or '.join(dict.fromkeys(expected))}, not {_quote_value(raw, inside)}"
        report.error((*place, *inside), message, code="bad-type")


def _find_existing_part(raw: Any, location: tuple[str | int, ...]) -> Place:
    """Find the beginning of `location` that stands in `raw`; pydantic adds names of types."""
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


def _quote_value(raw: Any, inside: Place) -> str:
    for part in inside:
        raw = raw[part]
    if inside[-1] in _SECRET_KEYS:
        return type(raw).__name__
    text = json.dumps(raw, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."
