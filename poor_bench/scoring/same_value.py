"""Comparison of a returned value with the expected one; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

TOLERANCE = 1e-9
"""Relative, and near zero absolute, difference of floats that still counts as equal."""
_MAX_KEY_BITS = 4096
"""Of a number that is a key: Python refuses to write longer ones, and JSON has none."""
_MAX_UNEQUAL = 1000
"""Items of a set that have no exact match and are compared with each other."""


def is_same_value(got: Any, expected: Any, *, exact_types: bool = False) -> bool:
    """True if two values of plain data are equal.

    Floats may differ by `TOLERANCE`, and NaN equals NaN. Since JSON can say neither tuples nor keys
    that are no text, lists equal tuples and `{1: "a"}` equals `{"1": "a"}`; `True` equals 1 and
    1.0, as in Python. With `exact_types` all types must agree.

    Args:
        got: Plain data; what is nothing of that kind equals nothing.
        expected: Plain data, at most as deeply nested as Python's recursion allows.
        exact_types: Whether list and tuple, int and float, bool and int differ.

    Example:
        >>> is_same_value((1, 2.0), [1, 2]), is_same_value((1, 2), [1, 2], exact_types=True)
        (True, False)
    """
    if exact_types and type(got) is not type(expected):
        return False
    if isinstance(expected, float | complex) or isinstance(got, float | complex):
        return _is_same_number(got, expected)
    for kinds, are_same in _COMPARISONS:
        if isinstance(expected, kinds):
            return isinstance(got, kinds) and are_same(got, expected, exact_types)
    return bool(got == expected)


def _is_same_number(got: Any, expected: Any) -> bool:
    numbers = int | float | complex
    if not isinstance(got, numbers) or not isinstance(expected, numbers):
        return False
    if isinstance(got, complex) or isinstance(expected, complex):
        return _is_same_number(got.real, expected.real) and _is_same_number(got.imag, expected.imag)
    try:
        first, second = float(got), float(expected)
    except OverflowError:
        return bool(got == expected)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _are_same(got: Sequence[Any], expected: Sequence[Any], exact_types: bool) -> bool:
    return len(got) == len(expected) and all(
        is_same_value(one, other, exact_types=exact_types)
        for one, other in zip(got, expected, strict=True)
    )


def _is_same_set(got: AbstractSet[Any], expected: AbstractSet[Any], exact_types: bool) -> bool:
    """True if each item of one set has one of its own in the other."""
    if exact_types:
        return Counter(map(_build_typed_key, got)) == Counter(map(_build_typed_key, expected))
    ours, theirs = list(got - expected), list(expected - got)
    if len(ours) != len(theirs) or len(ours) > _MAX_UNEQUAL:
        return False
    for item in ours:
        same = next((i for i, other in enumerate(theirs) if is_same_value(item, other)), None)
        if same is None:
            return False
        del theirs[same]
    return True


def _build_typed_key(item: Any) -> Any:
    """Make a key that only items of the same value and types share."""
    parts = tuple(map(_build_typed_key, item)) if isinstance(item, tuple) else item
    return type(item), parts


def _is_same_dict(got: Mapping[Any, Any], expected: Mapping[Any, Any], exact_types: bool) -> bool:
    if not exact_types and got.keys() != expected.keys():
        got = {_write_json_key(key): value for key, value in got.items()}
        expected = {_write_json_key(key): value for key, value in expected.items()}
    if exact_types and set(map(_build_typed_key, got)) != set(map(_build_typed_key, expected)):
        return False
    return got.keys() == expected.keys() and all(
        is_same_value(got[key], value, exact_types=exact_types) for key, value in expected.items()
    )


def _write_json_key(key: Any) -> Any:
    if isinstance(key, bool):
        return str(key).lower()
    if key is None:
        return "null"
    if isinstance(key, float) or (isinstance(key, int) and key.bit_length() <= _MAX_KEY_BITS):
        return str(key)
    return key


_COMPARISONS: tuple[tuple[tuple[type, ...], Callable[[Any, Any, bool], bool]], ...] = (
    ((list, tuple), _are_same),
    ((dict,), _is_same_dict),
    ((set, frozenset), _is_same_set),
)
