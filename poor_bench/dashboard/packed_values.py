"""Many values of a query as one short text: pure."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_UNPACKED = 40
"""Values that are still written one by one, so that people can read them."""
_MARK = "~"
_MOST_CHARACTERS = 2_000_000
"""Unpacked: an address from elsewhere must not fill the memory."""


def pack_values(values: Sequence[str]) -> Sequence[str]:
    """Write values for a query: one by one, or as one packed text if they are many.

    Example:
        >>> pack_values(["a", "b"])
        ['a', 'b']
        >>> len(pack_values([f"sum_{n}" for n in range(2000)]))
        1
    """
    if len(values) <= MOST_UNPACKED:
        return values
    packed = zlib.compress("\n".join(values).encode(), level=9)
    return [_MARK + base64.urlsafe_b64encode(packed).decode().rstrip("=")]


def unpack_values(texts: Iterable[str]) -> tuple[str, ...]:
    """Read what `pack_values` wrote; a damaged text stands for no value.

    Example:
        >>> unpack_values(pack_values([f"sum_{n}" for n in range(2000)]))[-1]
        'sum_1999'
    """
    return tuple(value for text in texts for value in _unpack(text))


def _unpack(text: str) -> list[str]:
    if not text.startswith(_MARK):
        return [text]
    packed = text.removeprefix(_MARK)
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        unpacked = zlib.decompressobj().decompress(data, _MOST_CHARACTERS).decode()
    except (binascii.Error, zlib.error, ValueError):
        return []
    return unpacked.split("\n") if unpacked else []
