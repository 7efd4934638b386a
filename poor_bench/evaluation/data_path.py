"""Find a value in nested data by a dotted path; pure."""

from __future__ import annotations

from collections.abc import Mapping
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
