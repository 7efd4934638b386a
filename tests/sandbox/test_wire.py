from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.sandbox.encoding import DecodeError, decode, encode
from poor_bench.sandbox.plain import EncodeError

_HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
_PLAIN = st.recursive(
    _HASHABLE | st.binary() | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(_HASHABLE, inner, max_size=3)
        | st.sets(_HASHABLE, max_size=3)
    ),
    max_leaves=12,
)


@given(_PLAIN)
def test_plain_data_arrives_as_it_was_sent(value: Any) -> None:
    arrived = decode(encode(value))
    assert (type(arrived), arrived) == (type(value), value)


@given(st.binary(max_size=400))
def test_hostile_bytes_are_refused_or_harmless(noise: bytes) -> None:
    try:
        decode(noise)
    except DecodeError:
        return


@given(_PLAIN, st.data())
def test_damaged_messages_are_refused_or_harmless(value: Any, data: st.DataObject) -> None:
    message = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(message) - 1))
        message[place] = data.draw(st.integers(0, 255))
    test_hostile_bytes_are_refused_or_harmless.hypothesis.inner_test(bytes(message))


def test_not_a_number_arrives() -> None:
    assert math.isnan(decode(encode(float("nan"))))


def test_nesting_is_bounded() -> None:
    nested: Any = []
    for _ in range(500):
        nested = [nested]
    with pytest.raises(EncodeError):
        encode(nested)
