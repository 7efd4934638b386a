"""Placeholders such as `{order}` in the texts of playbook steps; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from poor_bench.config.file_models import FileModel

Model = TypeVar("Model", bound=FileModel)

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of all placeholders in the texts of JSON-like data."""
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from names_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_in(item)


def filled(value: Any, params: Mapping[str, str]) -> Any:
    """JSON-like data with the placeholders filled whose names are known.

    Example:
        >>> filled({"open": "{server}/orders/{id}"}, {"server": "http://a", "id": "7"})
        {'open': 'http://a/orders/7'}
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: params.get(found[1], found[0]), value)
    if isinstance(value, Mapping):
        return {key: filled(item, params) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, params) for item in value]
    return value


def filled_model(model: Model, params: Mapping[str, str]) -> Model:
    """A step with its placeholders filled."""
    return type(model).model_validate(filled(model.model_dump(exclude_unset=True), params))
