from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from poor_bench.sandbox.inside.passing import arguments_of


def one(numbers: Any) -> None: ...
def two(a: Any, b: Any) -> None: ...
def optional(a: Any, b: Any = 0) -> None: ...
def several(*numbers: Any) -> None: ...
def nothing() -> None: ...


@functools.lru_cache
def cached(a: Any, b: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "value", "args", "kwargs"),
    [
        (one, 5, (5,), {}),
        (one, "ab", ("ab",), {}),
        (two, [1, 2], [1, 2], {}),
        (two, {"a": 1, "b": 2}, (), {"a": 1, "b": 2}),
        (one, [1, 2, 3], ([1, 2, 3],), {}),
        (one, [], ([],), {}),
        (one, [5], [5], {}),
        (one, {"x": 1}, ({"x": 1},), {}),
        (one, {1: 2}, ({1: 2},), {}),
        (nothing, [], [], {}),
        (several, [1, 2, 3], [1, 2, 3], {}),
        (cached, [1, 2], [1, 2], {}),
        (two, [1, 2, 3], [1, 2, 3], {}),
        (int, ["7"], ["7"], {}),
    ],
    ids=lambda item: getattr(item, "__name__", repr(item)),
)
def test_input_becomes_arguments(
    function: Callable[..., Any], value: Any, args: Any, kwargs: dict[str, Any]
) -> None:
    assert arguments_of(function, [value]) == [(args, kwargs)]


def test_all_inputs_of_a_function_are_passed_in_the_same_way() -> None:
    assert arguments_of(one, [[1, 2], [], [7]]) == [(([1, 2],), {}), (([],), {}), (([7],), {})]
    assert arguments_of(optional, [[1], [1, 2]]) == [([1], {}), ([1, 2], {})]


def test_inputs_that_agree_on_nothing_are_passed_each_as_it_fits() -> None:
    assert arguments_of(two, [[1, 2], 3]) == [([1, 2], {}), ((3,), {})]
