"""Two JSON values field by field: which differ, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from poor_bench.extraction.json_value import extract_json

_MOST_FIELDS = 2000
_MOST_CHARACTERS = 200_000
_LONGEST_VALUE = 2000
_MISSING = object()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that does not stand alike in both values."""

    path: str
    """Such as `items[2].name`; empty for the whole value."""
    first: str | None
    """As JSON; None where the field is missing."""
    second: str | None
    """As JSON; None where the field is missing."""


@dataclass(frozen=True, slots=True)
class JsonDifference:
    """Two JSON values compared."""

    n_alike: int
    """Fields that stand alike in both."""
    differences: tuple[FieldDifference, ...]


def compare_json(first: str, second: str) -> JsonDifference | None:
    """Return how the JSON in two answers differs; None where one of them holds none.

    What stands around the JSON does not matter. Answers of more than 200,000
    characters and values of more than 2,000 fields are not compared; a field is cut at 2,000
    characters.

    Example:
        >>> found = compare_json('{"a": 1, "b": [2]}', 'Here: {"a": 1, "b": [3]}')
        >>> found.n_alike, found.differences
        (1, (FieldDifference(path='b[0]', first='2', second='3'),))
    """
    if max(len(first), len(second)) > _MOST_CHARACTERS:
        return None
    values = [extract_json(text) for text in (first, second)]
    if values[0] is None or values[1] is None:
        return None
    sides = [
        dict(islice(_fields(value.value, ""), _MOST_FIELDS + 1))
        for value in values
        if value is not None
    ]
    if max(len(side) for side in sides) > _MOST_FIELDS:
        return None
    paths = dict.fromkeys([*sides[0], *sides[1]])
    pairs = [(path, *(side.get(path, _MISSING) for side in sides)) for path in paths]
    different = [(path, old, new) for path, old, new in pairs if not _is_alike(old, new)]
    return JsonDifference(
        n_alike=len(pairs) - len(different),
        differences=tuple(
            FieldDifference(path, _text(old), _text(new)) for path, old, new in different
        ),
    )


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every value that holds no others with the way to it."""
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _fields(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for place, member in enumerate(value):
            yield from _fields(member, f"{path}[{place}]")
    else:
        yield path, value


def _is_alike(first: Any, second: Any) -> bool:
    """Return whether two values are the same; true is not 1."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _text(value: Any) -> str | None:
    if value is _MISSING:
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
