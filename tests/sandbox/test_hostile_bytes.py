"""Bytes that would take time or memory out of proportion."""

from __future__ import annotations

import marshal
import time
from typing import Any

import pytest

from poor_bench.sandbox.encoding import MAX_BYTES, DecodeError, decode, encode
from poor_bench.sandbox.plain import EncodeError, OpaqueObject, require_plain

SAME_HASH = [number * (2**61 - 1) for number in range(1, 3000)]


def sent(value: Any) -> bytes:
    return marshal.dumps(value, 2)


@pytest.mark.parametrize(
    "value",
    [set(SAME_HASH), dict.fromkeys(SAME_HASH), frozenset(SAME_HASH)],
    ids=["set", "dict", "frozenset"],
)
def test_items_made_to_collide_are_refused(value: Any) -> None:
    with pytest.raises(DecodeError, match="collide"):
        decode(sent(value))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too early"),
        (b"[\xff\xff\xff\x7f", "announced"),
        (b"[\xff\xff\xff\xff", "announced"),
        (b"u\xff\xff\xff\x7f", "too early"),
        (b"s\xff\xff\xff\xff", "too early"),
        (b"u\x01\x00\x00\x00\xff", "UTF-8"),
        (b"l\x01\x00\x00\x00\xff\xff", "digits"),
        (b"l\x00\x00\x00\x00", "digits"),
        (b"<\x01\x00\x00\x00[\x00\x00\x00\x00", "hashed"),
        (b"{[\x00\x00\x00\x00N0", "hashed"),
        (b"(\x01\x00\x00\x00.", "without a type"),
        (b"NN", "after the end"),
        (sent(compile("1", "x", "eval")), "unknown kind"),
        (b"(\x01\x00\x00\x00" * 5000, "nested"),
        (b"{" * 5000, "nested"),
    ],
    ids=lambda item: None if isinstance(item, bytes) else item,
)
def test_bytes_that_are_no_plain_data_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(content)


@pytest.mark.slow(reason="reads the longest value")
def test_longest_value_is_read_in_little_time() -> None:
    fullest = b"<" + (MAX_BYTES // 5).to_bytes(4, "little")
    fullest += b"".join(b"i" + number.to_bytes(4, "little") for number in range(MAX_BYTES // 5))
    widest = b"[" + MAX_BYTES.to_bytes(4, "little") + b"N" * MAX_BYTES
    longest = sent(1 << (8 * MAX_BYTES - 100))
    for content in (fullest, widest, longest):
        start = time.process_time()
        decode(content)
        assert time.process_time() - start < 10


def test_value_beyond_the_limit_is_not_sent() -> None:
    with pytest.raises(EncodeError, match="bytes"):
        encode("x" * (MAX_BYTES + 1))


def test_objects_are_sent_as_the_name_of_their_type() -> None:
    opaque = decode(encode({"a": [object()]}))["a"][0]
    assert isinstance(opaque, OpaqueObject)
    assert (opaque.type_name, opaque == opaque.type_name) == ("object", False)


def test_plain_data_can_be_demanded() -> None:
    assert require_plain([1, {"a": (2,)}]) == [1, {"a": (2,)}]
    with pytest.raises(EncodeError, match="function"):
        require_plain([test_plain_data_can_be_demanded])
