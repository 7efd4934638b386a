"""Pairs of brackets in text that is not all JSON, in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SYMBOL = re.compile(r'\\[^\n]|["\n\[\]{}]')
_OPENING_OF = {"]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class BracketSpans:
    """Where brackets open and close.

    Attributes:
        closed: Start and end of every matching pair, in the order in which they close: what is
            inside a pair stands before it.
        unclosed_start: Offset of the first bracket that never closes, or None.
        depth: How deep brackets are nested at most.
    """

    closed: tuple[tuple[int, int], ...]
    unclosed_start: int | None
    depth: int


def bracket_spans(text: str) -> BracketSpans:
    """Return the pairs of `[]` and `{}` in `text`.

    Brackets within double quotes do not count where a bracket is open before. A quote ends with
    its line, as in JSON, so that a stray one in prose does not hide the rest. A closing bracket
    closes the nearest opening one of its kind; opening ones in between stay unmatched.
    """
    scan = _Scan()
    for symbol in _SYMBOL.finditer(text):
        scan.take(symbol[0], symbol.start())
    return BracketSpans(
        closed=tuple(scan.closed),
        unclosed_start=scan.stack[0][1] if scan.stack else None,
        depth=scan.depth,
    )


class _Scan:
    def __init__(self) -> None:
        self.closed: list[tuple[int, int]] = []
        self.stack: list[tuple[str, int]] = []
        self.depth = 0
        self._n_open = {"[": 0, "{": 0}
        self._is_quoted = False

    def take(self, symbol: str, offset: int) -> None:
        if symbol == "\n":
            self._is_quoted = False
        elif symbol == '"':
            self._is_quoted = bool(self.stack) and not self._is_quoted
        elif self._is_quoted or symbol[0] == "\\":
            return
        elif symbol in self._n_open:
            self.stack.append((symbol, offset))
            self._n_open[symbol] += 1
            self.depth = max(self.depth, len(self.stack))
        elif self._n_open[_OPENING_OF[symbol]]:
            self._close(_OPENING_OF[symbol], offset + 1)

    def _close(self, wanted: str, end: int) -> None:
        while True:
            opening, start = self.stack.pop()
            self._n_open[opening] -= 1
            if opening == wanted:
                self.closed.append((start, end))
                return
