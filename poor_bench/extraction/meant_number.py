"""Which numbers of a text are meant by themselves, and may thus be an answer.

Parts of something else are not: terms of a sum that is not worked out (`3 + 4`), dates and times
(`2026-11-22`, `12:30`), ranges (`5-10`, `between 5 and 10`), alternatives (`5 or 6`), exponents and
arguments of functions; nor are numbers that the text denies (`not 5`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from poor_bench.extraction.denial import is_denied_before

if TYPE_CHECKING:
    from poor_bench.extraction.number import NumberInText

_MAX_GAP = 30
_REACH = 20
_OPERATION = re.compile(
    r"^(?:(?:[ \t]*(?:[-+/^]|plus|minus|times|over|divided by|multiplied by)[ \t]*"
    r"|\*{1,2}|[ ]\*{1,2}[ ])[({]{0,2}|:)",  # a star with a space on one side is emphasis
    re.IGNORECASE,
)
_OR = re.compile(r"^\s?(?P<unit>[^\W\d]*)\s+or\s+(?:[a-z]\s?=\s?)?", re.IGNORECASE)
_TO = re.compile(r"^(?:\s?[^\W\d]+)?\s+to\s+", re.IGNORECASE)
_AND = re.compile(r"^(?:\s?[^\W\d]+)?\s+and\s+", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|by|add(?:ed|ing|s)?)\s+(?:\$\s?)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)
_WITHIN = re.compile(
    r"(?:\^\s?|(?<=[\w)])\*\*)[({]?$|(?:√|\b(?:sqrt|log|ln|sin|cos|tan|exp))\s?\d{0,2}\s?[({]?$"
)
_FACTOR = re.compile(r"\s?(?:\\(?:sqrt|pi|frac|ln|log|sin|cos|tan)\b|[π√])")


def meant_numbers(text: str, numbers: Sequence[NumberInText]) -> Iterator[NumberInText]:
    """Yield those of the consecutive `numbers` in `text` that are meant by themselves."""
    linked = {
        place
        for place, (one, other) in enumerate(pairwise(numbers))
        if _are_linked(text, one, other)
    }
    for place, number in enumerate(numbers):
        is_part = place in linked or place - 1 in linked
        if not is_part and not _is_within(text, number):
            yield number


def _are_linked(text: str, one: NumberInText, other: NumberInText) -> bool:
    """Return whether two neighbours say only together what is meant."""
    if other.start - one.end > _MAX_GAP:
        return False
    gap = text[one.end : other.start]
    if _OPERATION.fullmatch(gap):
        return True
    before = text[max(0, one.start - _REACH) : one.start]
    if _BETWEEN.search(before) and _AND.fullmatch(gap):
        return True
    if _TO.fullmatch(gap):
        return _FROM.search(before) is None
    either = _OR.fullmatch(gap)
    if either is None or not set(one.number.readings).isdisjoint(other.number.readings):
        return False
    # "2 hours or 120 minutes" says the same twice
    return text[other.end :].lstrip().startswith(either["unit"])


def _is_within(text: str, number: NumberInText) -> bool:
    before = text[max(0, number.start - _REACH) : number.start]
    return (
        _WITHIN.search(before) is not None
        or _FACTOR.match(text, number.end) is not None
        or is_denied_before(text, number.start, words=1)
    )
