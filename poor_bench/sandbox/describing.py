"""Plain data as short Python text, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

_MAX_INT_BITS = 4096
_ELLIPSIS = "…"


def describe_value(value: Any, max_length: int = 200) -> str:
    """Return plain data as Python writes it, cut off after about `max_length` characters.

    Takes time in proportion to `max_length`, not to the size of the value.

    Example:
        >>> describe_value({"a": (1, 2.5)})
        "{'a': (1, 2.5)}"
        >>> describe_value(list(range(1000)), max_length=12)
        '[0, 1, 2, 3…'
    """
    return _join(_pieces(value, max_length), max_length)


def describe_call(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], max_length: int = 200
) -> str:
    """Return a call as Python writes it, cut off after about `max_length` characters.

    Example:
        >>> describe_call("power", [2], {"n": 3})
        'power(2, n=3)'
    """
    named = (chain([f"{key}="], _pieces(value, max_length)) for key, value in kwargs.items())
    arguments = chain((_pieces(value, max_length) for value in args), named)
    return _join(chain([f"{name}("], _separated(arguments), [")"]), max_length)


def _join(pieces: Iterator[str], max_length: int) -> str:
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > max_length:
            return text[: max_length - 1] + _ELLIPSIS
    return text


def _pieces(value: Any, max_length: int) -> Iterator[str]:
    kind = type(value)
    if kind in (str, bytes):
        yield repr(value[: max_length + 1])
    elif kind is int and value.bit_length() > _MAX_INT_BITS:
        yield f"<int of {value.bit_length():,} bits>"
    elif kind is dict:
        items = (
            chain(_pieces(key, max_length), [": "], _pieces(item, max_length))
            for key, item in value.items()
        )
        yield from chain("{", _separated(items), "}")
    elif kind in _BRACKETS and value:
        opening, closing = _BRACKETS[kind]
        yield opening
        yield from _separated(_pieces(item, max_length) for item in value)
        yield ",)" if kind is tuple and len(value) == 1 else closing
    else:
        yield repr(value)


def _separated(items: Iterator[Iterator[str]]) -> Iterator[str]:
    for index, pieces in enumerate(items):
        if index:
            yield ", "
        yield from pieces


_BRACKETS: Mapping[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}
