"""Whether a returned value is the expected one: pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

TOLERANCE = 1e-9
"""Relative, and near zero absolute, difference of floats that still counts as equal."""


def is_same_value(got: Any, expected: Any, *, exact_types: bool = False) -> bool:
    """Return whether two values of plain data are equal.

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
    if isinstance(expected, float) or isinstance(got, float):
        return _is_same_number(got, expected)
    if isinstance(expected, list | tuple):
        return isinstance(got, list | tuple) and _are_same(got, expected, exact_types)
    if isinstance(expected, dict):
        return isinstance(got, dict) and _is_same_dict(got, expected, exact_types)
    return bool(got == expected)


def _is_same_number(got: Any, expected: Any) -> bool:
    if not isinstance(got, int | float) or not isinstance(expected, int | float):
        return False
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


def _is_same_dict(got: Mapping[Any, Any], expected: Mapping[Any, Any], exact_types: bool) -> bool:
    if not exact_types and got.keys() != expected.keys():
        got = {_key_in_json(key): value for key, value in got.items()}
        expected = {_key_in_json(key): value for key, value in expected.items()}
    return got.keys() == expected.keys() and all(
        is_same_value(got[key], value, exact_types=exact_types) for key, value in expected.items()
    )


def _key_in_json(key: Any) -> Any:
    if isinstance(key, bool):
        return str(key).lower()
    if key is None:
        return "null"
    return str(key) if isinstance(key, int | float) else key
