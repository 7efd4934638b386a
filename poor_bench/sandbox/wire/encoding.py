"""From plain data to bytes and back, where both sides are ours: Python's `marshal`, version 2.

Its format is that of `poor_bench.sandbox.wire.decoding`, which reads what candidates send.
"""

from __future__ import annotations

import marshal
from typing import Any

from poor_bench.sandbox.wire.plain import EncodeError, to_plain

MAX_BYTES = 1024 * 1024
"""Longest encoding of one value."""
_VERSION = 2


def encode(value: object) -> bytes:
    """Return the encoding of a value; an object that is not plain data becomes its type's name.

    Raises:
        EncodeError: If the value is too large or too deeply nested.
    """
    return encode_exact(to_plain(value, _mark))


def encode_message(word: str, value: object) -> bytes:
    """Return the encoding of a message with one value; raises as `encode` does."""
    return encode_exact((word, to_plain(value, _mark)))


def encode_exact(value: Any) -> bytes:
    """Return the encoding of a value that is plain data through and through.

    Raises:
        EncodeError: If the value is too large.
    """
    encoded = marshal.dumps(value, _VERSION)
    if len(encoded) > MAX_BYTES:
        raise EncodeError(f"a value of more than {MAX_BYTES:,} bytes")
    return encoded


def decode_trusted(encoded: bytes) -> Any:
    """Return the value of an encoding that was made by us; never for what candidates send."""
    return marshal.loads(encoded)  # noqa: S302 - the bytes are our own


def _mark(type_name: str) -> tuple[object, str]:
    return ..., type_name
