from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.sandbox import OpaqueObject
from poor_bench.scoring.same_value import is_same_value

NAN = float("nan")


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (0.1 + 0.2, 0.3),
        (5.0, 5),
        (NAN, NAN),
        (float("inf"), float("inf")),
        ((1, [2, (3,)]), [1, [2, [3]]]),
        ({1: "a", None: (1,)}, {"1": "a", "null": [1]}),
        ({True: 1}, {"true": 1}),
        (True, 1),
        ({1, 2}, {2, 1}),
        ({0.1 + 0.2, 5}, {0.3, 5.0}),
        ({(0.1 + 0.2, "a")}, {(0.3, "a")}),
        (0.1 + 0.2 + 1j, 0.3 + 1j),
        (1 + 0j, 1),
        (10**400, 10**400),
        ("\ud800", "\ud800"),
    ],
    ids=repr,
)
def test_values_that_mean_the_same_are_the_same(got: Any, expected: Any) -> None:
    assert is_same_value(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (0.3001, 0.3),
        (1, "1"),
        (None, 0),
        ([1, 2], [1, 2, 3]),
        ([1, 2], {1, 2}),
        ({"a": 1}, {"a": 1, "b": 2}),
        (10**400, 1.0),
        (1e-5, 0),
        ("1.0", 1.0),
        (OpaqueObject("int"), 1),
        (b"a", "a"),
        ({0.31}, {0.3}),
        ({1, 2}, {1, 3}),
        ({1, 2}, {1}),
        (1 + 2j, 1),
    ],
    ids=repr,
)
def test_different_values_are_not_the_same(got: Any, expected: Any) -> None:
    assert not is_same_value(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((1,), [1]),
        (True, 1),
        (1.0, 1),
        ({1: 2}, {"1": 2}),
        ([True], [1]),
        ({"a": (1,)}, {"a": [1]}),
        ({1.0}, {1}),
        ({(True,)}, {(1,)}),
        ({True: 2}, {1: 2}),
    ],
    ids=repr,
)
def test_exact_types_tell_apart_what_json_cannot(got: Any, expected: Any) -> None:
    assert is_same_value(got, expected)
    assert not is_same_value(got, expected, exact_types=True)


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_PLAIN)
def test_every_value_is_itself(value: Any) -> None:
    assert is_same_value(value, value, exact_types=True)


@given(_PLAIN, _PLAIN)
def test_order_of_the_two_does_not_matter_and_exact_is_narrower(one: Any, other: Any) -> None:
    assert is_same_value(one, other) == is_same_value(other, one)
    assert not is_same_value(one, other, exact_types=True) or is_same_value(one, other)
