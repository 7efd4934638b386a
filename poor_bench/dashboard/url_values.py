"""Values of a query: how one is parsed, packed lists, and the view of a table. Pure."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import unquote

MOST_UNPACKED = 40
"""Values that are still written one by one, so that people can read them."""
_MARK = "~"
_MOST_CHARACTERS = 2_000_000
"""Unpacked: an address from elsewhere must not fill the memory."""
YES = "yes"
"""Value of a switch that is on."""
_MOST_DIGITS = 9
_DECIMAL = re.compile(rf"[0-9]{{1,{_MOST_DIGITS}}}(\.[0-9]{{0,{_MOST_DIGITS}}})?")


class Signed(float):
    """Type of a number that may be below 0; others are not parsed then."""


def parse_value(text: str, kind: type) -> Any:
    """Parse one value; None if it makes no sense.

    Example:
        >>> parse_value("2", int), parse_value("-2", float), parse_value("yes", bool)
        (2, None, True)
    """
    if kind is bool:
        return text in {YES, "1"}
    if kind in {float, Signed}:
        digits = text.removeprefix("-") if kind is Signed else text
        is_number = _DECIMAL.fullmatch(digits) is not None
        return float(text) if is_number else None
    if kind is int:
        is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        return int(text) if is_number else None
    if issubclass(kind, StrEnum):
        return kind(text) if text in set(kind) else None
    return text


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


_QUOTED = str.maketrans({"%": "%25", "~": "%7E", ".": "%2E"})


def _quote(field: str) -> str:
    """Write a field so that it holds no sign of its own; a field may be named by the user."""
    return field.translate(_QUOTED)


class TableView(NamedTuple):
    """What the reader chose of one table."""

    name: str
    sort: str = ""
    """Field that sorts the rows, after a minus where descending; empty for the usual order."""
    columns: tuple[str, ...] = ()
    """Fields of the columns that are shown; none for the usual ones."""

    @classmethod
    def read(cls, text: str) -> TableView:
        """Read what `text` writes; what is missing is empty."""
        name, sort, columns, *_ = [*text.split("~"), "", ""]
        return cls(name, unquote(sort), tuple(map(unquote, filter(None, columns.split(".")))))

    @property
    def text(self) -> str:
        """Write it for the address; empty where nothing was chosen."""
        is_usual = not self.sort and not self.columns
        columns = ".".join(map(_quote, self.columns))
        return "" if is_usual else f"{self.name}~{_quote(self.sort)}~{columns}"

    @property
    def field(self) -> str:
        """Field that sorts the rows; may be empty."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """True if the largest value comes first."""
        return self.sort.startswith("-")

    def turn(self, field: str) -> TableView:
        """Sort by a field: ascending, then descending, then in the usual order.

        Example:
            >>> [TableView("t", sort).turn("score").sort for sort in ("", "score", "-score")]
            ['score', '-score', '']
        """
        following = {field: f"-{field}", f"-{field}": ""}
        return self._replace(sort=following.get(self.sort, field))

    def toggle(self, field: str, shown: Sequence[str]) -> TableView:
        """Show or hide a column; the first one stays.

        Args:
            field: Of the column.
            shown: Fields of the columns that are shown now.
        """
        others = tuple(each for each in shown if each != field)
        return self._replace(columns=others if field in shown else (*others, field))
