"""From bytes that candidate code may have written to plain data; safe on any bytes.

The format is a part of what `marshal` writes in version 2: one byte for the kind, then length,
count or content, numbers with the least significant byte first.

| byte | kind | then |
|---|---|---|
| `N` `T` `F` | None, True, False | |
| `i` | int of 32 bits | 4 bytes |
| `l` | int | signed number of digits, digits of 15 bits in 2 bytes each |
| `g` `y` | float, complex | 8 or 16 bytes |
| `u` `s` | str, bytes | length, content (UTF-8 with surrogates) |
| `[` `(` `<` `>` | list, tuple, set, frozenset | count, items |
| `{` | dict | keys and values in turn, then `0` |
| `.` | Ellipsis | only in `(Ellipsis, name)`, which is an object of the type of that name |

Code, references and all else that `marshal` knows are refused. Time and memory are proportional to
the length of the bytes: nesting is limited, counts are checked against what is left, and sets and
dicts whose items were made to collide, which takes quadratic time, are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

from poor_bench.sandbox.wire.plain import MAX_DEPTH, OpaqueObject

_INT32, _DOUBLE, _TWO_DOUBLES = Struct("<i"), Struct("<d"), Struct("<dd")
_DIGIT, _DIGIT_BITS = Struct("<H"), 15
_END_OF_DICT = b"0"
_MAX_EQUAL_HASHES = 16
"""Items of one set or dict that may share a hash; plain data has hardly any."""


class DecodeError(Exception):
    """Bytes are not the encoding of plain data; the message says why."""


def decode(encoded: bytes) -> Any:
    """Return the plain data that bytes stand for.

    Raises:
        DecodeError: If they are not the encoding of plain data.
    """
    reader = _Reader(encoded)
    value = reader.value(MAX_DEPTH)
    if not reader.is_at_end:
        raise DecodeError("bytes after the end of the value")
    return value


class _Reader:
    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._end = len(encoded)
        self._offset = 0

    @property
    def is_at_end(self) -> bool:
        return self._offset == self._end

    def value(self, depth: int) -> Any:
        return self.value_of_kind(self.take(1), depth)

    def value_of_kind(self, kind: bytes, depth: int) -> Any:
        if kind not in _READERS:
            raise DecodeError("an unknown kind of value")
        return _READERS[kind](self, depth)

    def take(self, length: int) -> bytes:
        start = self._offset
        end = start + length
        if not start <= end <= self._end:
            raise DecodeError("the bytes end too early")
        self._offset = end
        return self._encoded[start:end]

    def number(self) -> int:
        number: int = _INT32.unpack(self.take(4))[0]
        return number

    def items(self, depth: int) -> list[Any]:
        self.require_depth(depth)
        count = self.number()
        if not 0 <= count <= self._end - self._offset:
            raise DecodeError("more items announced than there are bytes")
        return [self.value(depth - 1) for _ in range(count)]

    def require_depth(self, depth: int) -> None:
        if depth < 0:
            raise DecodeError("nested too deeply")


def _read_long(reader: _Reader, _depth: int) -> int:
    count = reader.number()
    digits = [digit for (digit,) in _DIGIT.iter_unpack(reader.take(2 * abs(count)))]
    if not digits or max(digits) >> _DIGIT_BITS:
        raise DecodeError("a number with impossible digits")
    magnitude = int("".join(f"{digit:015b}" for digit in reversed(digits)), base=2)
    return -magnitude if count < 0 else magnitude


def _read_str(reader: _Reader, _depth: int) -> str:
    try:
        return reader.take(reader.number()).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DecodeError("text that is not UTF-8") from error


def _read_tuple(reader: _Reader, depth: int) -> Any:
    items = tuple(reader.items(depth))
    if items and items[0] is ...:
        return _opaque(items)
    return items


def _opaque(items: tuple[Any, ...]) -> OpaqueObject:
    match items:
        case (_, str() as type_name):
            return OpaqueObject(type_name)
    raise DecodeError("an object without a type")


def _read_dict(reader: _Reader, depth: int) -> dict[Any, Any]:
    reader.require_depth(depth)
    keys, values = [], []
    while (kind := reader.take(1)) != _END_OF_DICT:
        keys.append(reader.value_of_kind(kind, depth - 1))
        values.append(reader.value(depth - 1))
    return dict(zip(_require_distinct(keys), values, strict=True))


def _require_distinct(items: Sequence[Any]) -> Sequence[Any]:
    try:
        n_by_hash = Counter(map(hash, items))
    except TypeError as error:
        raise DecodeError("a set or dict with items that cannot be hashed") from error
    if max(n_by_hash.values(), default=0) > _MAX_EQUAL_HASHES:
        raise DecodeError("a set or dict whose items collide")
    return items


_READERS: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"N": lambda _reader, _depth: None,
    b"T": lambda _reader, _depth: True,
    b"F": lambda _reader, _depth: False,
    b".": lambda _reader, _depth: ...,
    b"i": lambda reader, _depth: reader.number(),
    b"l": _read_long,
    b"g": lambda reader, _depth: _DOUBLE.unpack(reader.take(8))[0],
    b"y": lambda reader, _depth: complex(*_TWO_DOUBLES.unpack(reader.take(16))),
    b"u": _read_str,
    b"s": lambda reader, _depth: reader.take(reader.number()),
    b"[": lambda reader, depth: reader.items(depth),
    b"(": _read_tuple,
    b"<": lambda reader, depth: set(_require_distinct(reader.items(depth))),
    b">": lambda reader, depth: frozenset(_require_distinct(reader.items(depth))),
    b"{": _read_dict,
}
