from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.sandbox import OpaqueObject, describe_value

_VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "value",
    [(), (1,), [1, (2,)], {"a": {1}}, set(), frozenset({1}), frozenset(), "a'b", b"\x00", -0.0],
    ids=repr,
)
def test_small_values_are_written_as_python_does(value: Any) -> None:
    assert describe_value(value) == repr(value)


@given(_VALUES, st.integers(5, 50))
def test_text_is_never_longer_than_asked(value: Any, length: int) -> None:
    assert len(describe_value(value, length)) <= length


def test_huge_values_are_described_without_writing_them_out() -> None:
    assert describe_value(1 << 10_000_000) == "<int of 10,000,001 bits>"
    assert describe_value(["x" * 10**7] * 1000, max_length=10) == "['xxxxxxx…"


def test_opaque_objects_are_named() -> None:
    assert describe_value([OpaqueObject("Thing")]) == "[<object of type Thing>]"
