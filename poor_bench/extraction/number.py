r"""Numbers out of a response, exactly, as Decimal.

Understood: signs, currency, thousands separators (`1,234.5`, `1'234`, `1.234.567`, `1.234,5`), a
decimal comma where it cannot be a list or a thousands separator, scientific notation (`1.2e-3`,
`3 * 10^8`), fractions (`3/4`, `2 1/2`, `½`, `\frac{3}{4}`), percent, and LaTeX around all that.

Which of several numbers is the answer, first rule that fits:

1. the whole response is a number, or a fenced block is: bare, fenced;
2. the last `\boxed{}`: boxed;
3. what the last "answer is", "Answer:", "answer =" or `####` announces, or a last line's
   right-hand side `... = 18`: announced. After an announced equation, its right-hand side;
4. a first line that is nothing but a number: in prose;
5. the last number in the text: in prose.

Numbers of more than 400 digits, or beyond 10^400, are not read.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from typing import Any

from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.plain_math import plain_math

_NUMBER = re.compile(
    r"""
    (?<![\w./])                             # not inside a word, a version, a date
    (?P<sign>(?<![)\]}%])[-+])?(?:[$€£¥₹₽₩]\s?)?(?P<inner_sign>[-+](?=[\d.]))?
    (?:
        (?P<power>10\s?(?:\^|\*\*)\s?\{?(?P<power_exponent>[-+]?\d{1,4})\}?)
      | (?:
            (?P<us>\d{1,3}(?:[,'_\xa0]\d{3})+(?![\d,])(?:\.\d+)?)
          | (?P<eu>\d{1,3}(?:(?:\.\d{3}){2,}(?![\d.])|(?:\.\d{3})+(?=,\d))(?:,\d+)?)
          | (?<![,(\[{])(?P<comma>\d+,(?:\d{1,2}|\d{4,})(?![\d,.]))
          | (?P<plain>\d+(?:\.\d+)?|\.\d+)
        )
        (?: [eE](?P<exponent>[-+]?\d{1,4})(?!\w)
          | \s?[*x]\s?10\s?(?:\^|\*\*)\s?\{?(?P<times_exponent>[-+]?\d{1,4})\}?
          | (?P<mixed>\ \d{1,6}/\d{1,6}(?!\s?/|\.?\d))
          | \s?/\s?(?P<denominator>\d+(?:\.\d+)?)(?!\s?/|\.?\d)
        )?
    )
    (?!(?:st|nd|rd|th)\b|[²³¹⁰⁴-⁹])         # no ordinal, no power
    (?P<percent>\s?(?:%|per\s?cent\b))?
    """,
    re.VERBOSE,
)
_ANNOUNCEMENT = re.compile(
    r"\banswer\b(?:[^\n.!?:=]{0,80}?(?:\bis\b|\bare\b|\bequals?\b|[:=])|[^\w\n]{0,4}\n)|\#{4}",
    re.IGNORECASE,
)
_BOXED = "\\boxed{"
_WRAPPING = " \t\r\n*_`'\"$"
_MAX_DIGITS = 400
_MAX_BITS = 1300
_MAX_ANNOUNCED_LINE = 200
_MAX_ANNOUNCED_GAP = 30
_MAX_BOXED = 1000
_MAX_UNREADABLE = 20
_DIVISION = Context(prec=60)
_WIDE = Context(prec=4 * _MAX_DIGITS, rounding=ROUND_HALF_UP)
"""Wide enough that nothing of a number that is read gets lost."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    value: Decimal
    is_percent: bool = False
    """Whether a percent sign followed; `value` is what stood before it."""

    @property
    def readings(self) -> tuple[Decimal, ...]:
        """What it may mean: `45%` is 45, and 0.45."""
        return (self.value, self.value.scaleb(-2, _WIDE)) if self.is_percent else (self.value,)


def extract_number(text: str) -> Extracted[Number] | None:
    """Return the number that `text` gives as its answer, or None.

    Args:
        text: An answer, without thinking.

    Example:
        >>> extract_number("6 boxes of 3 make $18.00").value.value
        Decimal('18.00')
    """
    return (
        _whole(text, Found.BARE)
        or _fenced(text)
        or _boxed(text)
        or _announced(text)
        or _first_line(text)
        or _last(text)
    )


def parse_number(text: str) -> Number | None:
    """Return the number that `text` is, but for emphasis, quotes and a full stop; else None."""
    if len(text) > 2 * _MAX_DIGITS:
        return None
    plain = plain_math(text).strip(_WRAPPING.replace("$", "")).rstrip(".,;!" + _WRAPPING)
    match = _NUMBER.fullmatch(plain) or _NUMBER.fullmatch(plain.lstrip(_WRAPPING))
    return _number(match) if match else None


def sole_number(text: str) -> Number | None:
    """Return the only number in a short text such as `18 apples`; None where there are more."""
    if len(text) > 2 * _MAX_DIGITS:
        return None
    numbers = [number for number, _ in _numbers(plain_math(text))]
    return numbers[0] if len(numbers) == 1 else None


def number_from_json(value: Any) -> Number | None:
    """Return the number that a JSON value is, or gives as a text; else None.

    A text counts where it is a number or holds exactly one; true, false, null, lists and objects
    do not, nor does what is not finite.
    """
    if isinstance(value, str):
        return parse_number(value) or sole_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return None
    exact = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    return Number(exact) if exact.is_finite() and abs(exact.adjusted()) <= _MAX_DIGITS else None


def round_number(value: Decimal, places: int) -> Decimal:
    """Return `value` rounded to decimal places, halves away from zero.

    Args:
        value: Finite, below 10^400.
        places: 0 to 100.
    """
    return value.quantize(Decimal(1).scaleb(-places), context=_WIDE)


def _whole(text: str, found: Found) -> Extracted[Number] | None:
    number = parse_number(text)
    return Extracted(number, found, text.strip()) if number else None


def _fenced(text: str) -> Extracted[Number] | None:
    for block in reversed(fenced_blocks(text)):
        extracted = _whole(block.body, Found.FENCED)
        if extracted:
            return extracted
    return None


def _boxed(text: str) -> Extracted[Number] | None:
    content = last_boxed(text)
    number = None if content is None else parse_number(content) or sole_number(content)
    return Extracted(number, Found.BOXED, content) if number and content else None


def last_boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{}` holds, up to 1,000 characters; None where there is none."""
    start = text.rfind(_BOXED)
    if start < 0:
        return None
    start += len(_BOXED)
    depth = 1
    for offset, character in enumerate(text[start : start + _MAX_BOXED]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[start : start + offset]
    return None


def _announced(text: str) -> Extracted[Number] | None:
    announcements = list(_ANNOUNCEMENT.finditer(text))
    for announcement in reversed(announcements[-_MAX_ANNOUNCED_LINE:]):
        rest = text[announcement.end() : announcement.end() + _MAX_ANNOUNCED_LINE].lstrip()
        extracted = _first_after(rest.partition("\n")[0])
        if extracted:
            return extracted
    last_line = text.rstrip().rpartition("\n")[2]
    _, equals, right_side = last_line[-_MAX_ANNOUNCED_LINE:].rpartition("=")
    number = parse_number(right_side) if equals else None
    return Extracted(number, Found.ANNOUNCED, right_side.strip()) if number else None


def _first_after(line: str) -> Extracted[Number] | None:
    """Return the number at the beginning of an announced line, or of its last right-hand side."""
    sentence = re.split(r"[.!?](?:\s|$)", line, maxsplit=1)[0]
    for piece in (sentence.rpartition("=")[2], sentence):
        for number, match in _numbers(plain_math(piece)):
            if match.start() <= _MAX_ANNOUNCED_GAP:
                return Extracted(number, Found.ANNOUNCED, match[0].strip())
            break
    return None


def _first_line(text: str) -> Extracted[Number] | None:
    line = text.lstrip().partition("\n")[0].rstrip()
    is_list_item = line.endswith((".", ")", ":"))
    return None if is_list_item else _whole(line, Found.IN_PROSE)


def _last(text: str) -> Extracted[Number] | None:
    for match in reversed(deque(_NUMBER.finditer(plain_math(text)), maxlen=_MAX_UNREADABLE)):
        number = _number(match)
        if number:
            return Extracted(number, Found.IN_PROSE, match[0].strip())
    return None


def _numbers(text: str) -> Iterator[tuple[Number, re.Match[str]]]:
    for match in _NUMBER.finditer(text):
        number = _number(match)
        if number:
            yield number, match


def _number(match: re.Match[str]) -> Number | None:
    if len(match[0]) > _MAX_DIGITS:
        return None
    try:
        value = _magnitude(match)
    except DecimalException:
        return None
    if abs(value.adjusted()) > _MAX_DIGITS:
        return None
    is_negative = "-" in f"{match['sign']}{match['inner_sign']}"
    return Number(
        value.copy_negate() if is_negative else value, is_percent=match["percent"] is not None
    )


def _magnitude(match: re.Match[str]) -> Decimal:
    if match["power"]:
        return Decimal(1).scaleb(int(match["power_exponent"]), _WIDE)
    value = _digits(match)
    exponent = match["exponent"] or match["times_exponent"]
    if exponent:
        return value.scaleb(int(exponent), _WIDE)
    if match["mixed"]:
        numerator, _, denominator = match["mixed"].strip().partition("/")
        return _WIDE.add(value, _DIVISION.divide(Decimal(numerator), Decimal(denominator)))
    if match["denominator"]:
        return _DIVISION.divide(value, Decimal(match["denominator"]))
    return value


def _digits(match: re.Match[str]) -> Decimal:
    if match["us"]:
        return Decimal(re.sub(r"[^\d.]", "", match["us"]))
    european = match["eu"] or match["comma"]
    if european:
        return Decimal(european.replace(".", "").replace(",", "."))
    return Decimal(match["plain"])
