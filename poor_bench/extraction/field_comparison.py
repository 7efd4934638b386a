"""Compare answers with what was expected: single values as people mean them, JSON field by field.

`build_item_key` is lenient: numbers agree by value, texts but for case and punctuation.
`compare_fields` is strict: values are equal where JSON says so: `18` and `18.0` are, `1` and `true`
or `"1"` are not; text is equal whatever its Unicode form.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

from poor_bench.extraction.normalise import fold_answer
from poor_bench.extraction.number import parse_number, read_json_number


def build_item_key(item: Any) -> object:
    """Build a key that is equal for two items exactly if they mean the same.

    Numbers agree by value, however they are written (`18`, `18.0`, `"18"`); texts but for case,
    white space and punctuation around; true, false and null with themselves only, or as texts.

    Example:
        >>> build_item_key("18.0") == build_item_key(18)
        True
    """
    number = parse_number(item) if isinstance(item, str) else read_json_number(item)
    if number is not None:
        return number
    if isinstance(item, str):
        return fold_answer(item)
    if item is None or isinstance(item, bool):
        return {None: "null", True: "true", False: "false"}[item]
    if isinstance(item, list):
        return tuple(build_item_key(part) for part in item)
    if isinstance(item, dict):
        return frozenset((fold_answer(key), build_item_key(value)) for key, value in item.items())
    return str(item)


_UNSET: Any = object()


class Difference(NamedTuple):
    """A field that is not as expected."""

    path: str
    """Where it stands, as a JSON path such as `$.home.city`."""
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class FieldComparison(NamedTuple):
    """How many fields were compared, and which differ."""

    n_fields: int
    differences: tuple[Difference, ...]

    @property
    def share_right(self) -> float:
        """Share of the fields that are as expected, 0.0 to 1.0."""
        return 1 - len(self.differences) / self.n_fields if self.n_fields else 1.0


def compare_fields(expected: Any, got: Any, *, forbid_others: bool = False) -> FieldComparison:
    """Compare every scalar, empty list and empty object in `expected` with what `got` has there.

    Args:
        expected: A JSON value.
        got: A JSON value.
        forbid_others: Whether what `got` has beside is compared as well, and differs.
    """
    compared = list(_list_expected_fields(expected, got, "$"))
    if forbid_others:
        compared += _list_other_fields(expected, got, "$")
    differences = tuple(field for field in compared if field.problem)
    return FieldComparison(len(compared), differences)


def _list_expected_fields(expected: Any, got: Any, path: str) -> Iterator[Difference]:
    """Yield every expected field; where it is right, without a problem."""
    if isinstance(expected, dict) and expected:
        members = got if isinstance(got, dict) else {}
        for key, value in expected.items():
            yield from _list_expected_fields(value, members.get(key, _UNSET), f"{path}.{key}")
    elif isinstance(expected, list) and expected:
        items = got if isinstance(got, list) else []
        for index, value in enumerate(expected):
            item = items[index] if index < len(items) else _UNSET
            yield from _list_expected_fields(value, item, f"{path}[{index}]")
    elif got is _UNSET:
        yield Difference(path, "missing")
    elif _are_equal(expected, got):
        yield Difference(path, "")
    else:
        yield Difference(path, f"expected {expected!r:.80}, got {got!r:.80}")


def _are_equal(expected: Any, got: Any) -> bool:
    if isinstance(expected, str) and isinstance(got, str):
        return unicodedata.normalize("NFC", expected) == unicodedata.normalize("NFC", got)
    are_numbers = _is_number(expected) and _is_number(got)
    return bool(expected == got) and (are_numbers or type(expected) is type(got))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_other_fields(expected: Any, got: Any, path: str) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in got.items():
            if key in expected:
                yield from _list_other_fields(expected[key], value, f"{path}.{key}")
            else:
                yield Difference(f"{path}.{key:.80}", "not expected")
    elif isinstance(expected, list) and isinstance(got, list):
        for index, (ours, theirs) in enumerate(zip(expected, got, strict=False)):
            yield from _list_other_fields(ours, theirs, f"{path}[{index}]")
        for index in range(len(expected), len(got)):
            yield Difference(f"{path}[{index}]", "not expected")
