"""Notice keys that no model knows: typing errors, and entries that would be silently ignored."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from poor_bench.config.file_models import FileModel
from poor_bench.config.nearest_name import misspelt_name, name_hint
from poor_bench.config.report import Place, Report


def is_comment(key: str) -> bool:
    """Tell whether a key is a user's remark or an editor's, such as `_comment` or `$schema`."""
    return key.startswith(("_", "$"))


def without_comments(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is left of `raw` without its comments."""
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
    known = _inner_models(model)
    for key, value in raw.items():
        if key in known:
            inner = known[key]
            for inside, part in _mappings_in(value):
                if inner is not None:
                    meant |= check_keys(part, inner, (*place, key, *inside), report)
        elif not is_comment(key) and not model.has_free_keys:
            near = _note_unknown(key, model, place, report)
            if near is not None:
                meant.add((*place, near))
    return meant


def _mappings_in(value: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield a mapping, or the mappings of a list, with their places."""
    if isinstance(value, dict):
        yield (), value
    elif isinstance(value, list):
        yield from (((index,), item) for index, item in enumerate(value) if isinstance(item, dict))


def _note_unknown(key: str, model: type[FileModel], place: Place, report: Report) -> str | None:
    near = misspelt_name(key, model.model_fields)
    if near is not None:
        hint = f"did you mean `{near}`? Keys that begin with `_` are comments"
        report.error((*place, key), f"unknown key `{key}`", hint=hint, code="misspelt-key")
    elif not model.keeps_other_keys:
        hint = name_hint(key, model.model_fields)
        report.warning((*place, key), "this key is not used", hint=hint, code="unknown-key")
    return near


@functools.cache
def _inner_models(model: type[FileModel]) -> dict[str, type[FileModel] | None]:
    """Return the known keys, each with the model of what stands under it, where there is one."""
    return {name: _model_in(field.annotation) for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[FileModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, FileModel):
            return candidate
    return None
