"""The data of an outcome: values at dotted paths, and the JSON Schema of a case; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING


def find_path(data: Any, path: str) -> Any:
    """Find the value at a dotted path; `MISSING` if it does not exist.

    Whole numbers count positions of a list from 0. Keys may hold dots themselves; the shortest key
    that leads to something wins.

    Example:
        >>> find_path({"orders": [{"id": 7}]}, "orders.0.id")
        7
        >>> find_path({"a": 1}, "a.b") is MISSING
        True
    """
    return _find(data, path.split("."))


def _find(data: Any, parts: list[str]) -> Any:
    if not parts:
        return data
    if isinstance(data, Mapping):
        return _find_in_mapping(data, parts)
    if isinstance(data, list | tuple) and parts[0].isdecimal() and int(parts[0]) < len(data):
        return _find(data[int(parts[0])], parts[1:])
    return MISSING


def _find_in_mapping(data: Mapping[str, Any], parts: list[str]) -> Any:
    for length in range(1, len(parts) + 1):
        key = ".".join(parts[:length])
        if key in data:
            found = _find(data[key], parts[length:])
            if found is not MISSING:
                return found
    return MISSING


def set_path(data: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path; what stands in the way is replaced.

    Example:
        >>> data = {"order": {"id": 7}}
        >>> set_path(data, "order.status", "open")
        >>> data
        {'order': {'id': 7, 'status': 'open'}}
    """
    *folders, last = path.split(".")
    for name in folders:
        inner = data.get(name)
        if not isinstance(inner, dict):
            inner = data[name] = {}
        data = inner
    data[last] = value


def find_schema_fault(data: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
    """Find the first fault of `data` and its place; an empty string if it is valid.

    Args:
        data: What an agent returned.
        schema: A valid JSON Schema, or None for none.
    """
    if schema is None:
        return ""
    from jsonschema import Draft202012Validator

    fault = next(Draft202012Validator(schema).iter_errors(data), None)
    return "" if fault is None else f"{fault.json_path}: {fault.message:.200}"


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in JSON-like data, but for keys.

    Example:
        >>> map_texts({"a": ["b", 1]}, str.upper)
        {'a': ['B', 1]}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: map_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(item, change) for item in value]
    return value
