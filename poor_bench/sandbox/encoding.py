"""From plain data to bytes, and back: strictly for what candidates may have sent, quickly for ours.

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

`decode` is safe on any bytes. It refuses code, references and all else that `marshal` knows. Time
and memory are proportional to the length of the bytes: nesting is limited, counts are checked
against what is left, and sets and dicts whose items were made to collide, which takes quadratic
time, are refused.
"""

from __future__ import annotations

import marshal
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from poor_bench.messages import cut_text
from poor_bench.sandbox.plain import MAX_DEPTH, MAX_NAME, EncodeError, OpaqueObject, to_plain

# longest encoding of one value
MAX_BYTES = 1024 * 1024
_VERSION = 2


def encode(value: object) -> bytes:
    """Encode a value; an object that is not plain data becomes its type's name.

    Raises:
        EncodeError: If the value is too large or too deeply nested.
    """
    return encode_exact(to_plain(value, _mark))


def encode_message(word: str, value: object) -> bytes:
    """Encode a message with one value; raises as `encode` does."""
    return encode_exact((word, to_plain(value, _mark)))


def encode_exact(value: Any) -> bytes:
    """Encode a value that is plain data through and through.

    Raises:
        EncodeError: If the value is too large.
    """
    encoded = marshal.dumps(value, _VERSION)
    if len(encoded) > MAX_BYTES:
        raise EncodeError(f"a value of more than {MAX_BYTES:,} bytes")
    return encoded


def decode_trusted(encoded: bytes) -> Any:
    """Decode what was encoded by us; never for what candidates send."""
    return marshal.loads(encoded)  # noqa: S302 - the bytes are our own


def _mark(type_name: str) -> tuple[object, str]:
    return ..., type_name


_INT32, _DOUBLE, _TWO_DOUBLES = struct.Struct("<i"), struct.Struct("<d"), struct.Struct("<dd")
_DIGIT, _DIGIT_BITS = struct.Struct("<H"), 15
_END_OF_DICT = ord("0")
# items of one set or dict that may share a hash; plain data has hardly any
_MAX_EQUAL_HASHES = 16


class DecodeError(Exception):
    """Bytes are not the encoding of plain data; the message says why."""


def decode(encoded: bytes) -> Any:
    """Decode bytes to plain data.

    Raises:
        DecodeError: If they are not the encoding of plain data.
    """
    reader = _PlainReader(encoded)
    try:
        value = reader.value(MAX_DEPTH)
    except (IndexError, struct.error) as error:
        raise DecodeError("the bytes end too early") from error
    if reader.offset != len(encoded):
        raise DecodeError("bytes after the end of the value")
    return value


class _PlainReader:
    """Reads one value after the other; IndexError or struct.error if the bytes end too early."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        self.offset = 0

    def value(self, depth: int) -> Any:
        read = _READERS.get(self.kind())
        if read is None:
            raise DecodeError("an unknown kind of value")
        return read(self, depth)

    def kind(self) -> int:
        kind = self.encoded[self.offset]
        self.offset += 1
        return kind

    def number(self) -> int:
        start = self.offset
        self.offset = start + 4
        number: int = _INT32.unpack_from(self.encoded, start)[0]
        return number

    def content(self, length: int) -> bytes:
        start = self.offset
        if not 0 <= length <= len(self.encoded) - start:
            raise IndexError
        self.offset = start + length
        return self.encoded[start : self.offset]

    def items(self, depth: int) -> list[Any]:
        if depth < 0:
            raise DecodeError("nested too deeply")
        count = self.number()
        if not 0 <= count <= len(self.encoded) - self.offset:
            raise DecodeError("more items announced than there are bytes")
        return [self.value(depth - 1) for _ in range(count)]


def _read_float(reader: _PlainReader, _depth: int) -> float:
    number: float = _DOUBLE.unpack(reader.content(_DOUBLE.size))[0]
    return number


def _read_complex(reader: _PlainReader, _depth: int) -> complex:
    return complex(*_TWO_DOUBLES.unpack(reader.content(_TWO_DOUBLES.size)))


def _read_long(reader: _PlainReader, _depth: int) -> int:
    count = reader.number()
    digits = [digit for (digit,) in _DIGIT.iter_unpack(reader.content(2 * abs(count)))]
    if not digits or max(digits) >> _DIGIT_BITS:
        raise DecodeError("a number with impossible digits")
    magnitude = int("".join(f"{digit:015b}" for digit in reversed(digits)), base=2)
    return -magnitude if count < 0 else magnitude


def _read_str(reader: _PlainReader, _depth: int) -> str:
    try:
        return reader.content(reader.number()).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DecodeError("text that is not UTF-8") from error


def _read_tuple(reader: _PlainReader, depth: int) -> Any:
    items = tuple(reader.items(depth))
    if items and items[0] is ...:
        return _make_opaque(items)
    return items


def _make_opaque(items: tuple[Any, ...]) -> OpaqueObject:
    match items:
        case (_, str() as type_name):
            return OpaqueObject(cut_text(type_name, MAX_NAME))
    raise DecodeError("an object without a type")


def _read_dict(reader: _PlainReader, depth: int) -> dict[Any, Any]:
    if depth < 0:
        raise DecodeError("nested too deeply")
    keys, values = [], []
    while reader.encoded[reader.offset] != _END_OF_DICT:
        keys.append(reader.value(depth - 1))
        values.append(reader.value(depth - 1))
    reader.offset += 1
    return dict(zip(_require_distinct(keys), values, strict=True))


def _require_distinct(items: Sequence[Any]) -> Sequence[Any]:
    try:
        hashes = list(map(hash, items))
        if len(hashes) <= _MAX_EQUAL_HASHES:
            return items
        n_by_hash = Counter(hashes)
    except TypeError as error:
        raise DecodeError("a set or dict with items that cannot be hashed") from error
    if max(n_by_hash.values()) > _MAX_EQUAL_HASHES:
        raise DecodeError("a set or dict whose items collide")
    return items


_READERS: dict[int, Callable[[_PlainReader, int], Any]] = {
    ord("N"): lambda _reader, _depth: None,
    ord("T"): lambda _reader, _depth: True,
    ord("F"): lambda _reader, _depth: False,
    ord("."): lambda _reader, _depth: ...,
    ord("i"): lambda reader, _depth: reader.number(),
    ord("l"): _read_long,
    ord("g"): _read_float,
    ord("y"): _read_complex,
    ord("u"): _read_str,
    ord("s"): lambda reader, _depth: reader.content(reader.number()),
    ord("["): lambda reader, depth: reader.items(depth),
    ord("("): _read_tuple,
    ord("<"): lambda reader, depth: set(_require_distinct(reader.items(depth))),
    ord(">"): lambda reader, depth: frozenset(_require_distinct(reader.items(depth))),
    ord("{"): _read_dict,
}
