"""Plain data: what may cross the border between this process and candidate code, and its text.

None, bool, int, float, complex, str, bytes, list, tuple, set, frozenset and dict, nested; an
`OpaqueObject` stands for anything else. Subclasses of these types count as what they hold, read
with the plain type's own methods: what objects claim of themselves (`__class__`, `__eq__`,
`__iter__`, ...) is never asked. So do bytearrays and single numbers of numpy, which Python calls
equal to plain ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

# deepest nesting of one value
MAX_DEPTH = 100
# characters that are kept of the name of a type
MAX_NAME = 100
_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
_CONTAINERS = frozenset({list, tuple, set, frozenset, dict})
_MAX_INT_BITS = 4096
_ELLIPSIS = "…"
_BRACKETS: Mapping[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


class EncodeError(Exception):
    """A value cannot be sent; the message says what it is."""


class OpaqueObject:
    """Stands for an object that is not plain data; equals nothing but itself."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<object of type {self.type_name}>"


def read_type_name(value: object) -> str:
    """Read the name of a value's type, whatever the type itself claims."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name[:MAX_NAME]


def to_plain(value: Any, opaque: Callable[[str], Any], depth: int = MAX_DEPTH) -> Any:
    """Convert a value to plain data; keep it if it is plain already.

    Args:
        value: Anything.
        opaque: From the name of a type to what stands for objects of that type.
        depth: How deeply the value may be nested.

    Raises:
        EncodeError: If it is nested more deeply, or has a set or dict that plain data cannot have.
    """
    if _is_plain(value, depth):
        return value
    base = next((base for base in type.mro(type(value)) if base in _CONVERTERS), None)
    if base is None:
        number = _read_numpy_number(value)
        if number is value or depth == 0:
            return opaque(read_type_name(value))
        return to_plain(number, opaque, depth - 1)
    if depth == 0:
        raise EncodeError(f"a value nested deeper than {MAX_DEPTH} levels")
    try:
        return _CONVERTERS[base](value, lambda item: to_plain(item, opaque, depth - 1))
    except TypeError as error:
        raise EncodeError("a set or dict with items that cannot be hashed") from error


def _read_numpy_number(value: Any) -> Any:
    """Read the plain number that a scalar of numpy holds; keep a value that is not one."""
    scalar: Any = getattr(sys.modules.get("numpy"), "generic", None)
    if scalar is None or scalar not in type.mro(type(value)):
        return value
    number = scalar.item(value)
    return value if type(number) is type(value) else number


def _is_plain(value: Any, depth: int) -> bool:
    """True if a value is plain through and through; quick where it is."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind not in _CONTAINERS or depth == 0:
        return False
    if kind is dict:
        return _are_plain(value, depth) and _are_plain(value.values(), depth)
    return _are_plain(value, depth)


def _are_plain(items: Collection[Any], depth: int) -> bool:
    return _SCALARS.issuperset(map(type, items)) or all(
        _is_plain(item, depth - 1) for item in items
    )


def require_plain(value: Any) -> Any:
    """Convert a value to plain data; see `to_plain`.

    Raises:
        EncodeError: If there is an object in it that is not, or it is nested too deeply.
    """
    return to_plain(value, _refuse)


def _refuse(type_name: str) -> NoReturn:
    raise EncodeError(f"an object of type {type_name}")


_Convert = Callable[[Any, Callable[[Any], Any]], Any]


def _convert_container(kind: Any) -> _Convert:
    return lambda value, to_plain_item: kind(map(to_plain_item, kind.__iter__(value)))


def _convert_dict(value: Any, to_plain_item: Callable[[Any], Any]) -> dict[Any, Any]:
    return {to_plain_item(key): to_plain_item(item) for key, item in dict.items(value)}


_CONVERTERS: dict[type, _Convert] = {
    int: lambda value, _: int.__add__(value, 0),
    float: lambda value, _: float.__float__(value),
    complex: lambda value, _: complex.__complex__(value),
    str: lambda value, _: str.__str__(value),
    bytes: lambda value, _: bytes.join(b"", (value, b"")),
    bytearray: lambda value, _: bytes.join(b"", (value,)),
    list: _convert_container(list),
    tuple: _convert_container(tuple),
    set: _convert_container(set),
    frozenset: _convert_container(frozenset),
    dict: _convert_dict,
}


def describe_value(value: Any, max_length: int = 200) -> str:
    """Describe plain data as Python writes it, cut off after about `max_length` characters.

    Takes time in proportion to `max_length`, not to the size of the value.

    Example:
        >>> describe_value({"a": (1, 2.5)})
        "{'a': (1, 2.5)}"
        >>> describe_value(list(range(1000)), max_length=12)
        '[0, 1, 2, 3…'
    """
    return _join_pieces(_list_pieces(value, max_length), max_length)


def describe_call(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], max_length: int = 200
) -> str:
    """Describe a call as Python writes it, cut off after about `max_length` characters.

    Example:
        >>> describe_call("power", [2], {"n": 3})
        'power(2, n=3)'
    """
    named = (chain([f"{key}="], _list_pieces(value, max_length)) for key, value in kwargs.items())
    arguments = chain((_list_pieces(value, max_length) for value in args), named)
    return _join_pieces(chain([f"{name}("], _separate(arguments), [")"]), max_length)


def _join_pieces(pieces: Iterator[str], max_length: int) -> str:
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > max_length:
            return text[: max_length - 1] + _ELLIPSIS
    return text


def _list_pieces(value: Any, max_length: int) -> Iterator[str]:
    kind = type(value)
    if kind in (str, bytes):
        yield repr(value[: max_length + 1])
    elif kind is int and value.bit_length() > _MAX_INT_BITS:
        yield f"<int of {value.bit_length():,} bits>"
    elif kind is dict:
        items = (
            chain(_list_pieces(key, max_length), [": "], _list_pieces(item, max_length))
            for key, item in value.items()
        )
        yield from chain("{", _separate(items), "}")
    elif kind in _BRACKETS and value:
        opening, closing = _BRACKETS[kind]
        yield opening
        yield from _separate(_list_pieces(item, max_length) for item in value)
        yield ",)" if kind is tuple and len(value) == 1 else closing
    else:
        yield repr(value)


def _separate(items: Iterator[Iterator[str]]) -> Iterator[str]:
    for index, pieces in enumerate(items):
        if index:
            yield ", "
        yield from pieces
