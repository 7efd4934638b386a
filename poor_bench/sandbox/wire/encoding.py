"""From plain data to bytes and back, where both sides are ours: Python's `marshal`, version 2.

Its format is that of `poor_bench.sandbox.wire.decoding`, which reads what candidates send.
"""

from __future__ import annotations

import marshal
from typing import Any, NoReturn

from poor_bench.sandbox.wire.plain import EncodeError, to_plain

MAX_BYTES = 1024 * 1024
"""Longest encoding of one value."""
_VERSION = 2


def encode(value: object, *, only_plain: bool = False) -> bytes:
    """Return the encoding of a value.

    Args:
        value: Objects in it that are not plain data are sent as the name of their type.
        only_plain: Refuse such objects instead.

    Raises:
        EncodeError: If the value is too large or too deeply nested, or refused.
    """
    plain = to_plain(value, _refuse if only_plain else _mark)
    encoded = marshal.dumps(plain, _VERSION)
    if len(encoded) > MAX_BYTES:
        raise EncodeError(f"a value of more than {MAX_BYTES:,} bytes")
    return encoded


def decode_trusted(encoded: bytes) -> Any:
    """Return the value of an encoding that was made by us; never for what candidates send."""
    return marshal.loads(encoded)  # noqa: S302 - the bytes are our own


def _mark(type_name: str) -> tuple[object, str]:
    return ..., type_name


def _refuse(type_name: str) -> NoReturn:
    raise EncodeError(f"an object of type {type_name}")
