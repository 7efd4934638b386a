from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.sandbox.inside.candidate import choose_arguments


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
    assert choose_arguments(function, [value]) == [(args, kwargs)]


def test_all_inputs_of_a_function_are_passed_in_the_same_way() -> None:
    assert choose_arguments(one, [[1, 2], [], [7]]) == [(([1, 2],), {}), (([],), {}), (([7],), {})]
    assert choose_arguments(optional, [[1], [1, 2]]) == [([1], {}), ([1, 2], {})]


def test_inputs_that_agree_on_nothing_are_passed_each_as_it_fits() -> None:
    assert choose_arguments(two, [[1, 2], 3]) == [([1, 2], {}), ((3,), {})]


def of_every_kind(a: Any, b: Any = 0, /, c: Any = 1, *, d: Any, e: Any = 2) -> None: ...
def with_any(a: Any, /, b: Any, *args: Any, c: Any = 0, **kwargs: Any) -> None: ...
def by_name_only(*, a: Any, b: Any = 0) -> None: ...


def fits(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


@given(
    st.sampled_from([one, two, optional, several, nothing, of_every_kind, with_any, by_name_only]),
    st.lists(st.integers(), max_size=6)
    | st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e", "args", "x"]), st.integers()),
)
def test_functions_get_what_fits_their_signature_as_python_tells_it(
    function: Callable[..., Any], value: Any
) -> None:
    apart = ((), value) if isinstance(value, dict) else (value, {})
    fits_apart, fits_whole = fits(function, *apart[0], **apart[1]), fits(function, value)
    expected = ((value,), {}) if fits_whole and not fits_apart else apart
    assert choose_arguments(function, [value]) == [expected]


def test_wrapped_functions_tell_the_signature_of_what_they_wrap() -> None:
    @functools.wraps(one)
    def wrapped(*args: Any) -> None:
        one(*args)

    assert choose_arguments(wrapped, [[1, 2]]) == [(([1, 2],), {})]
