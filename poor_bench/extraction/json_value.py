"""JSON out of a response: bare, fenced, in prose, or in need of repair.

Of several candidates of one kind the last one wins: LLMs correct themselves, and examples come
before answers. Of nested ones the outermost wins. The kinds are tried from the best-kept format
downwards; repairing (trailing commas, single quotes, comments, a missing end) comes last, and only
where the caller allows it.

The work is proportional to the length of the text, whatever stands in it: brackets are paired in
one pass; see also `_MAX_PASSES` and the limits of repair.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NoReturn

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.found import Extracted, Found

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


@lru_cache(maxsize=4)  # one response is searched for values of several kinds
def find_bracket_spans(text: str) -> BracketSpans:
    """Find the pairs of `[]` and `{}` in `text`.

    Brackets within double quotes do not count where a bracket is open before. A quote ends with
    its line, as in JSON, so that a stray one in prose does not hide the rest. A closing bracket
    closes the nearest opening one of its kind; opening ones in between stay unmatched.
    """
    scan = _BracketScan()
    for symbol in _SYMBOL.finditer(text):
        scan.take(symbol[0], symbol.start())
    return BracketSpans(
        closed=tuple(scan.closed),
        unclosed_start=scan.stack[0][1] if scan.stack else None,
        depth=scan.depth,
    )


class _BracketScan:
    """Walks over the symbols of one text, and pairs its brackets."""

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


Accepts = Callable[[Any], bool]

_AT_THE_EDGES = " \t\r\n\u200b\u2060\ufeff"
_MAX_DEPTH = 60
"""Deep enough for any answer, and shallow enough to walk through a value by recursion."""
_MOST_ENVELOPES = 3
_MAX_PASSES = 4
"""How often the whole text may be read in search of JSON in prose."""
_COST_OF_A_TRY = 40
"""What trying one more candidate costs, as characters read."""
_MAX_REPAIR_CHARACTERS = 20_000
"""Text that may be repaired per response; the repair library needs up to 10 us a character."""
_BUGS_OF_REPAIR = (
    AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What the repair library can raise over broken text beside saying that it is broken."""
_COST_OF_A_REPAIR = 200
"""What repairing one more candidate costs, as characters repaired."""
_MAX_REPAIR_DEPTH = 40
"""The repair library's time grows with the square of the depth."""


def is_container(value: Any) -> bool:
    """True if a JSON value is an object or a list."""
    return isinstance(value, dict | list)


def extract_json(
    text: str,
    accepts: Accepts = is_container,
    *,
    lenient: bool = True,
    exact: bool = False,
) -> Extracted[Any] | None:
    """Find the JSON value in `text`, or None.

    Args:
        text: An answer, without thinking.
        accepts: Which values count; others are passed over. Scalars are only found bare or fenced.
        lenient: Whether to repair what cannot be read otherwise.
        exact: Whether numbers with a point or exponent become Decimal instead of float.

    Example:
        >>> extract_json('Sure: {"answer": 18}. Anything else?')
        Extracted(value={'answer': 18}, found=<Found.IN_PROSE: 'in prose'>, text='{"answer": 18}')
    """
    reader = _CandidateReader(accepts, exact=exact)
    stripped = text.strip(_AT_THE_EDGES)
    bodies = [block.body.strip(_AT_THE_EDGES) for block in reversed(find_fenced_blocks(text))]
    extracted = reader.first([stripped], Found.BARE) or reader.first(bodies, Found.FENCED)
    if extracted is not None or not ("{" in text or "[" in text):
        return extracted
    spans = find_bracket_spans(text)
    extracted = reader.first(_list_spans_in_prose(text, spans), Found.IN_PROSE)
    if extracted is None and lenient and spans.depth <= _MAX_REPAIR_DEPTH:
        extracted = reader.read_first_repaired([*bodies, *_list_repairable(text, spans)])
    return extracted


def parse_json(text: str, *, exact: bool = False) -> Any:
    """Read the value of strict JSON; no NaN, no Infinity, no number beyond a float's range.

    Raises:
        ValueError: If it is not JSON, or nested deeper than 60 levels.
    """
    n_openings = text.count("[") + text.count("{")
    if n_openings > _MAX_DEPTH and find_bracket_spans(text).depth > _MAX_DEPTH:
        raise ValueError(f"nested deeper than {_MAX_DEPTH} levels")
    return (_EXACT if exact else _PLAIN).decode(text)


def open_envelopes(value: Any) -> Iterator[Any]:
    r"""Yield what a JSON value is wrapped around, from the outside inwards.

    An envelope is an object with a single member, or with one that holds others
    (`{"status": "ok", "data": {...}}`), a list of a single object, or a text that is itself JSON:
    `"{\"a\": 1}"`.

    Example:
        >>> list(open_envelopes({"data": '{"a": 1}'}))
        [{'a': 1}]
    """
    for _ in range(_MOST_ENVELOPES):
        if is_container(value):
            members = value.values() if isinstance(value, dict) else value
            held = [inner for member in members if is_container(inner := _decode(member))]
            if len(held) != 1 or (isinstance(value, list) and len(value) > 1):
                return
            value = held[0]
        elif not is_container(value := _decode(value)):
            return
        yield value


def _decode(value: Any) -> Any:
    """Read a text that is itself an object or a list; anything else stays as it is."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


class _CandidateReader:
    """Reads candidates until one is accepted."""

    def __init__(self, accepts: Accepts, *, exact: bool) -> None:
        self._accepts = accepts
        self._exact = exact

    def first(self, candidates: Iterator[str] | list[str], found: Found) -> Extracted[Any] | None:
        for candidate in candidates:
            try:
                value = parse_json(candidate, exact=self._exact)
            except ValueError:
                continue
            if self._accepts(value):
                return Extracted(value, found, candidate)
        return None

    def read_first_repaired(self, candidates: list[str]) -> Extracted[Any] | None:
        allowance = _MAX_REPAIR_CHARACTERS + _COST_OF_A_REPAIR
        for candidate in candidates:
            allowance -= len(candidate) + _COST_OF_A_REPAIR
            if allowance < 0:
                return None
            value = _repair(candidate)
            if value is not None and self._accepts(value):
                return Extracted(value, Found.REPAIRED, candidate)
        return None


def _list_spans_in_prose(text: str, spans: BracketSpans) -> Iterator[str]:
    allowance = _MAX_PASSES * (len(text) + _COST_OF_A_TRY)
    for start, end in reversed(spans.closed):
        allowance -= end - start + _COST_OF_A_TRY
        if allowance < 0:
            return
        yield text[start:end]


def _list_repairable(text: str, spans: BracketSpans) -> Iterator[str]:
    """Yield outermost pairs from last to first, then what a truncated answer left open."""
    outer_start = len(text)
    for start, end in reversed(spans.closed):
        if end <= outer_start:
            outer_start = start
            yield text[start:end]
    if spans.unclosed_start is not None:
        yield text[spans.unclosed_start :]


def _repair(candidate: str) -> Any:
    """Read the object or list that `candidate` was meant to be, or None."""
    import json_repair

    kind = {"{": dict, "[": list}.get(candidate[:1])
    if kind is None:
        return None
    try:
        value = json_repair.loads(candidate, skip_json_loads=True)
    except _BUGS_OF_REPAIR:
        return None
    return value if isinstance(value, kind) else None


def _read_finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is beyond a float's range")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_PLAIN = json.JSONDecoder(parse_float=_read_finite_float, parse_constant=_reject_constant)
_EXACT = json.JSONDecoder(parse_float=Decimal, parse_constant=_reject_constant)
