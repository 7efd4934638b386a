"""Differences of two texts, word by word, or field by field where both hold JSON."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import Any

from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.number import parse_number

_MOST_CHARACTERS = 6000
_MOST_WORK = 1_000_000
"""Pairs of equal pieces that are looked at for one comparison: well under a second."""
_WORDS = re.compile(r"\d+(?:[.,:']+\d+)*|[^\W\d]\w*|\s+|[^\w\s]|\w+")
"""A number is one word, with its decimals: half a number means nothing."""
LEAST_ALIKE = 0.4
"""Similarity from which on a word diff of two texts can be read."""


class TextSide(StrEnum):
    """Where a piece of text stands."""

    BOTH = "both"
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters of a comparison."""

    side: TextSide
    text: str


def compare_texts(first: str, second: str) -> list[Piece]:
    """Compare both texts word by word, as one sequence of pieces.

    Texts of more than some 6,000 characters together are compared line by line. The work is
    bounded, whatever the texts hold: what is not compared then differs.

    Example:
        >>> [(piece.side.value, piece.text) for piece in compare_texts("a b", "a c")]
        [('both', 'a '), ('first', 'b'), ('second', 'c')]
    """
    is_long = len(first) + len(second) > _MOST_CHARACTERS
    old, new = (
        text.splitlines(keepends=True) if is_long else _WORDS.findall(text)
        for text in (first, second)
    )
    n_before = _n_alike(old, new)
    n_behind = _n_alike(old[n_before:][::-1], new[n_before:][::-1])
    old_end, new_end = len(old) - n_behind, len(new) - n_behind
    pieces = [
        Piece(TextSide.BOTH, "".join(old[:n_before])),
        *_different(old[n_before:old_end], new[n_before:new_end], is_long=is_long),
        Piece(TextSide.BOTH, "".join(old[old_end:])),
    ]
    return [piece for piece in pieces if piece.text]


def measure_similarity(pieces: Sequence[Piece]) -> float:
    """Compute the share of the characters of two texts that stand alike in both, 0.0 to 1.0.

    White space does not count; two empty texts are alike.

    Example:
        >>> measure_similarity(compare_texts("the cat sat", "the cow sat"))
        0.6666666666666666
    """
    lengths = [(piece.side, len("".join(piece.text.split()))) for piece in pieces]
    alike = sum(2 * length for side, length in lengths if side is TextSide.BOTH)
    other = sum(length for side, length in lengths if side is not TextSide.BOTH)
    return alike / (alike + other) if alike + other else 1.0


def subtract_numbers(first: str, second: str) -> Decimal | None:
    """Compute how much larger the second of two answers is; None unless both are one number.

    Example:
        >>> subtract_numbers("6.00", "40.00")
        Decimal('34.00')
    """
    numbers = [parse_number(text) for text in (first, second)]
    if numbers[0] is None or numbers[1] is None or numbers[0].is_percent != numbers[1].is_percent:
        return None
    return numbers[1].value - numbers[0].value


def _n_alike(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(old), len(new)))


class _BoundedMatcher(difflib.SequenceMatcher[str]):
    """Finds no further matches once its work is used up.

    `difflib` looks at every pair of equal pieces in each of its steps, of which there may be as
    many as pieces: some texts of a few kB take more than 10 seconds.
    """

    a: Sequence[str]
    b2j: dict[str, list[int]]
    _work_left = _MOST_WORK

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """See `SequenceMatcher`."""
        end = len(self.a) if ahi is None else ahi
        if self._work_left > 0:
            pieces = self.a[alo:end]
            self._work_left -= len(pieces) + sum(len(self.b2j.get(piece, ())) for piece in pieces)
        if self._work_left <= 0:
            return difflib.Match(alo, blo, 0)
        return super().find_longest_match(alo, end, blo, bhi)


def _different(old: Sequence[str], new: Sequence[str], *, is_long: bool) -> Iterator[Piece]:
    """Compare what is left between the same beginning and the same end.

    Models that loop say one line thousands of times: `autojunk` keeps such lines from being
    compared each with each.
    """
    matcher = _BoundedMatcher(None, old, new, autojunk=is_long)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield Piece(TextSide.BOTH, "".join(old[old_start:old_end]))
            continue
        yield Piece(TextSide.FIRST, "".join(old[old_start:old_end]))
        yield Piece(TextSide.SECOND, "".join(new[new_start:new_end]))


_MOST_FIELDS = 2000
_MOST_JSON = 200_000
_LONGEST_VALUE = 2000
_MISSING = object()
_PLAIN_NAME = re.compile(r"[^.\[\]\"]+")


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that does not stand alike in both values."""

    path: str
    """Such as `items[2].name` or `["a.b"]`; empty for the whole value."""
    first: str | None
    """As JSON; None where the field is missing."""
    second: str | None
    """As JSON; None where the field is missing."""

    @property
    def change(self) -> Decimal | None:
        """How much larger the second number is; None unless both are numbers."""
        if self.first is None or self.second is None:
            return None
        return subtract_numbers(self.first, self.second)


@dataclass(frozen=True, slots=True)
class JsonDifference:
    """Two JSON values compared."""

    n_alike: int
    """Fields that stand alike in both."""
    differences: tuple[FieldDifference, ...]


def compare_json(first: str, second: str) -> JsonDifference | None:
    """Compare the JSON in two answers; None if one of them holds no JSON.

    What stands around the JSON does not matter. Answers of more than 200,000
    characters and values of more than 2,000 fields are not compared; a field is cut at 2,000
    characters.

    Example:
        >>> found = compare_json('{"a": 1, "b": [2]}', 'Here: {"a": 1, "b": [3]}')
        >>> found.n_alike, found.differences
        (1, (FieldDifference(path='b[0]', first='2', second='3'),))
    """
    if max(len(first), len(second)) > _MOST_JSON:
        return None
    values = [extract_json(text) for text in (first, second)]
    if values[0] is None or values[1] is None:
        return None
    sides = [
        dict(islice(_fields(value.value, ""), _MOST_FIELDS + 1))
        for value in values
        if value is not None
    ]
    if max(len(side) for side in sides) > _MOST_FIELDS:
        return None
    paths = dict.fromkeys([*sides[0], *sides[1]])
    pairs = [(path, *(side.get(path, _MISSING) for side in sides)) for path in paths]
    different = [(path, old, new) for path, old, new in pairs if not _is_alike(old, new)]
    return JsonDifference(
        n_alike=len(pairs) - len(different),
        differences=tuple(
            FieldDifference(path, _text(old), _text(new)) for path, old, new in different
        ),
    )


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every value that holds no others with the way to it."""
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _fields(member, f"{path}{_step(name)}" if path else _step(name).lstrip("."))
    elif isinstance(value, list) and value:
        for place, member in enumerate(value):
            yield from _fields(member, f"{path}[{place}]")
    else:
        yield path, value


def _step(name: str) -> str:
    """Write the step to a member; quoted where its name could be read as several steps."""
    return f".{name}" if _PLAIN_NAME.fullmatch(name) else f"[{json.dumps(name)}]"


def _is_alike(first: Any, second: Any) -> bool:
    """True if two values are the same; true is not 1."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _text(value: Any) -> str | None:
    if value is _MISSING:
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
