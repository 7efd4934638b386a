r"""Numbers as people write them, read exactly, as Decimal.

Understood: signs, currency, thousands separators (`1,234.5`, `1'234`, `1.234.567`, `1.234,5`,
`12,34,567`), a decimal comma where it cannot be a list or a thousands separator, `2.5 million`,
`2,5 Mio.`, `3.5万` and `$5M`, scientific notation (`1.2e-3`, `3 * 10^8`), fractions (`3/4`,
`2 1/2`, `½`, `\frac{3}{4}`), percent, and LaTeX around all that. Prose may have two numbers side
by side, so a plain space separates thousands only in `1 000`, in millions (`1 234 567`), next to a
currency (`12 500 €`), before decimals (`1 234,50`), and where nothing else stands there. Which of
several numbers is the answer, is for `answer_number` to say.

A number is not meant as an answer where it is part of something else: a term of a sum that is not
worked out (`3 + 4`), a date or time (`2026-11-22`, `12:30`), a range (`5-10`, `between 5 and 10`),
an alternative (`5 or 6`), an exponent, an argument of a function; nor where the text denies it
(`not 5`).

Numbers of more than 400 digits, or beyond 10^400, are not read.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from itertools import islice, pairwise
from typing import Any, NamedTuple

from poor_bench.extraction.label import is_denied_before
from poor_bench.extraction.normalise import WORD_CHARACTER
from poor_bench.extraction.plain_math import write_plain_math

_SIGN_OF_CURRENCY = "[$€£¥₹₽₩₺₴₪円元원]"
_CURRENCY = (
    rf"(?:{_SIGN_OF_CURRENCY}|(?:(?:EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|SEK|NOK|DKK|PLN|CZK|HUF|RUB"
    r"|[Ee]uros?|kr|zł|Kč|Ft|TL)|(?:Rs|Fr)\.?)(?![^\W\d_]))"
)
_SCALES = {
    "k": 3, "thousand": 3, "tausend": 3, "tsd": 3, "mille": 3, "mil": 3, "mila": 3, "тыс": 3,
    "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7,
    "M": 6, "mn": 6, "mio": 6, "mln": 6, "млн": 6, "million": 6, "millions": 6, "millionen": 6,
    "millón": 6, "millones": 6, "milione": 6, "milioni": 6, "milhão": 6, "milhões": 6,
    "miljoen": 6, "miljoner": 6, "millioner": 6, "миллион": 6, "миллиона": 6, "миллионов": 6,
    "bn": 9, "mrd": 9, "mld": 9, "млрд": 9, "billion": 9, "billions": 9, "milliarde": 9,
    "milliarden": 9, "milliard": 9, "milliards": 9, "miliardo": 9, "miliardi": 9, "miljard": 9,
    "miljarder": 9, "milliarder": 9, "bilhão": 9, "bilhões": 9, "mil millones": 9,
    "mil milhões": 9, "миллиард": 9, "миллиарда": 9, "миллиардов": 9,
    "trillion": 12, "trillions": 12, "billionen": 12,
    "千": 3, "万": 4, "萬": 4, "만": 4, "億": 8, "亿": 8, "억": 8, "兆": 12, "조": 12,
}  # fmt: skip
"""Powers of ten by word. A German `Billion` is left to English, where it is a thousandth of it."""
_SCALES_OF_CURRENCY = {"m": 6, "b": 9, "t": 12, "md": 9}
"""Letters that say a power of ten behind an amount of money only: `5 m` is a length."""
_SCALE_WORDS = "|".join(
    sorted((word for word in _SCALES if word != "M" and ord(word[0]) < 0x3000), key=len)[::-1]
).replace(" ", r"\s")

_NUMBER = re.compile(
    rf"""
    (?<!{WORD_CHARACTER})
    (?<![./±])                              # nor a version, a date, a tolerance
    (?=[-+]?(?:[$€£¥₹₽₩₺₴₪]|[A-ZKFRkz][A-Zcčłrs]{{1,2}}\.?)?\s?[-+]?\.?\d)  # fails early
    (?P<sign>(?<![)\]}}%])[-+])?(?P<currency>{_CURRENCY}\s?)?(?P<inner_sign>[-+](?=[\d.]))?
    (?:
        (?P<power>10\s?(?:\^|\*\*)\s?\{{?(?P<power_exponent>[-+]?\d{{1,4}})\}}?)
      | (?:
            (?P<us>(?=\d{{1,3}}[,'_\xa0\ ]\d\d)(?:
                \d{{1,3}}(?:[,'_\xa0]\d{{3}})+
              | \d{{1,2}}(?:,\d{{2}}(?=,)){{1,8}},\d{{3}}  # lakh; possessive fails in 3.11.2
              | \d{{1,3}}(?:\ \d{{3}}){{0,3}}\ 0\d\d(?:\ \d{{3}}){{0,3}}   # no number begins with 0
              | (?<=[=≈]\ )\d{{1,3}}(?:\ \d{{3}}){{2,5}}(?!\ \d)
              | (?<!\d\ )(?<!\d,\ )[1-9]\d?(?:\ \d{{3}}){{2}}(?!,?\ \d)   # 1 234 567, no list
            )(?![\d,]|(?:[\ \xa0']\d{{3}}){{1,8}},\d)(?:\.\d+)?)
          | (?P<spaced>(?=\d{{1,3}}[\ \xa0']\d{{3}})\d{{1,3}}(?:[\ \xa0']\d{{3}}){{1,8}}(?!\d)(?:
                ,\d+(?![\d,]|\.\d)|\.\d+(?![\d.])      # 1 234,50
              | (?=(?:,-)?\s?{_CURRENCY})         # 12 500 €
              | (?(currency)(?!\ \d)|(?!))        # € 12 500
            ))
          | (?P<eu>\d{{1,3}}+(?=\.)(?:
                (?:\.\d{{3}}){{2,}}(?![\d.])|(?:\.\d{{3}})+(?=,[\d-])
            )(?:,\d+)?)
          | (?<![,(\[{{])(?P<comma>\d+,(?:\d{{1,2}}|\d{{4,}})(?![\d,]|\.\d))
          | (?P<plain>\d++(?:\.\d++)?|\.\d++)(?![eE][-+]?\d{{5}})
        )
        (?:(?=[\seE*x/])(?:                     # looks ahead, since few numbers go on
            [eE](?P<exponent>[-+]?\d{{1,4}})(?!\w)
          | \s?[*x]\s?10\s?(?:\^|\*\*)\s?\{{?(?P<times_exponent>[-+]?\d{{1,4}})\}}?
          | (?P<mixed>\ \d{{1,6}}/\d{{1,6}}(?!\s?/|\.?\d))
          | \s?/\s?(?P<denominator>\d+(?:\.\d+)?)(?!\s?/|\.?\d)
        ))?
    )
    (?!(?:st|nd|rd|th)\b|[²³¹⁰⁴-⁹])         # no ordinal, no power
    (?:[.,]-{{1,2}}(?![\w-]))?                # 5.–
    (?:(?=\s?(?:%|[^\W\d_]))(?:
        (?P<percent>\s?(?:%|per\s?cent\b))
      | \s?(?P<scale>(?:M|(?i:{_SCALE_WORDS}))(?!\w)\.?|[千万萬만億亿억兆조])
      | (?(currency)\s?(?P<money_scale>[mMbBtT]|Md)(?!\w)|(?!))
    ))?
    (?:\s?(?P<paid_in>{_CURRENCY}(?!\s?\.?\d)))?
    """,
    re.VERBOSE,
)
_MONEY_WITH_DECIMAL_COMMA = re.compile(
    r"[€₺₽₴]|EUR|[Ee]uro|BRL|DKK|NOK|SEK|PLN|CZK|RUB|kr|zł|Kč|Ft|TL"
)
_THOUSANDS_OR_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3}){1,9}(?:,\d++)?|\d++(?:[ \xa0']\d{3}){0,9},\d++)(?![.,]?\d)"
)
_SPACED_MINUS = re.compile(r"^-\s+(?=[\d.$])")
_SPACED_THOUSANDS = re.compile(
    rf"[-+]?(?:{_CURRENCY}\s?)?\d{{1,3}}(?: \d{{3}})+(?:[.,]\d+)?\s?%?(?:\s?{_CURRENCY})?"
)
_WRAPPING = " \t\r\n*_`'\"$"
_MAX_DIGITS = 400
_MAX_BITS = 1300
_MAX_NEIGHBOURS = 20
_DIVISION = Context(prec=60)
_WIDE = Context(prec=4 * _MAX_DIGITS, rounding=ROUND_HALF_UP)
"""Wide enough that nothing of a number that is read gets lost."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    value: Decimal
    is_percent: bool = False
    """True if a percent sign followed; `value` is what stood before it."""
    digits: Decimal | None = field(default=None, compare=False)
    """What stood before a word such as million, which `value` includes; None without one."""

    @property
    def readings(self) -> tuple[Decimal, ...]:
        """What it may mean: `45%` is 45, and 0.45; `2 million` also 2, where millions are asked."""
        if self.is_percent:
            return (self.value, self.value.scaleb(-2, _WIDE))
        return (self.value,) if self.digits is None else (self.value, self.digits)


class NumberInText(NamedTuple):
    """A number and where it stands in a text."""

    number: Number
    start: int
    end: int


def parse_number(text: str) -> Number | None:
    """Read the number that `text` is, but for emphasis, quotes and a full stop; else None."""
    if len(text) > 2 * _MAX_DIGITS:
        return None
    plain = write_plain_math(text).strip(_WRAPPING.replace("$", "")).rstrip(".,;!" + _WRAPPING)
    plain = _SPACED_MINUS.sub("-", plain)
    if _SPACED_THOUSANDS.fullmatch(plain):
        plain = re.sub(r"(?<=\d) (?=\d)", "_", plain)
    match = _NUMBER.fullmatch(plain) or _NUMBER.fullmatch(plain.lstrip(_WRAPPING))
    return _read_number(match) if match else None


def find_sole_number(text: str) -> Number | None:
    """Find the only number in a short text such as `18 apples`; None where there are more."""
    if len(text) > 2 * _MAX_DIGITS:
        return None
    plain = write_plain_math(text)
    numbers = list(find_meant_numbers(plain, list(find_numbers(plain))))
    return numbers[0].number if len(numbers) == 1 else None


def write_decimal_point(text: str) -> str:
    """Rewrite numbers such as `1.234,5` and `1,234` with a decimal point, as 1234.5 and 1.234.

    Example:
        >>> write_decimal_point("1.234 km are 1.234.000 m, not 1,234")
        '1234 km are 1234000 m, not 1.234'
    """
    return _DECIMAL_COMMA.sub(
        lambda match: match[0].replace(".", "").replace(",", "."), write_plain_math(text)
    )


def read_json_number(value: Any, *, decimal_comma: bool = False) -> Number | None:
    """Read the number that a JSON value is, or gives as a text; else None.

    A text counts where it is a number or holds exactly one; true, false, null, lists and objects
    do not, nor does what is not finite.
    """
    if isinstance(value, str):
        value = write_decimal_point(value) if decimal_comma else value
        return parse_number(value) or find_sole_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return None
    exact = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    return Number(exact) if exact.is_finite() and abs(exact.adjusted()) <= _MAX_DIGITS else None


def round_number(value: Decimal, places: int) -> Decimal:
    """Round `value` to decimal places, halves away from zero.

    Args:
        value: Finite, below 10^400.
        places: 0 to 100.
    """
    return value.quantize(Decimal(1).scaleb(-places), context=_WIDE)


def find_numbers(text: str) -> Iterator[NumberInText]:
    """Yield the numbers in `text`, which `write_plain_math` made plain, from first to last."""
    for match in _NUMBER.finditer(text):
        number = _read_number(match)
        if number:
            yield NumberInText(number, match.start(), match.end())


def find_first_number(text: str) -> NumberInText | None:
    """Find the first number in `text`, made plain, that is meant by itself."""
    numbers = list(islice(find_numbers(text), _MAX_NEIGHBOURS))
    return next(find_meant_numbers(text, numbers), None)


def find_last_number(text: str) -> NumberInText | None:
    """Find the last number in `text`, made plain, that is meant by itself."""
    matches = deque(_NUMBER.finditer(text), maxlen=_MAX_NEIGHBOURS)
    numbers = [
        NumberInText(number, match.start(), match.end())
        for match in matches
        if (number := _read_number(match))
    ]
    return next(reversed(list(find_meant_numbers(text, numbers))), None)


def _read_number(match: re.Match[str]) -> Number | None:
    if len(match[0]) > _MAX_DIGITS:
        return None
    try:
        value = _read_magnitude(match)
    except DecimalException:
        return None
    if abs(value.adjusted()) > _MAX_DIGITS:
        return None
    if "-" in f"{match['sign']}{match['inner_sign']}":
        value = value.copy_negate()
    power_of_ten = _read_power_of_ten(match)
    if power_of_ten:
        return Number(value.scaleb(power_of_ten, _WIDE), digits=value)
    return Number(value, is_percent=match["percent"] is not None)


def _read_power_of_ten(match: re.Match[str]) -> int:
    """Give what a word behind the digits stands for; 0 without one."""
    if match["money_scale"]:
        return _SCALES_OF_CURRENCY[match["money_scale"].lower()]
    word = (match["scale"] or "").rstrip(".")
    return _SCALES.get(word) or _SCALES.get(word.lower(), 0)


def _read_magnitude(match: re.Match[str]) -> Decimal:
    if match["power"]:
        return Decimal(1).scaleb(int(match["power_exponent"]), _WIDE)
    value = _read_digits(match)
    exponent = match["exponent"] or match["times_exponent"]
    if exponent:
        return value.scaleb(int(exponent), _WIDE)
    if match["mixed"]:
        numerator, _, denominator = match["mixed"].strip().partition("/")
        return _WIDE.add(value, _DIVISION.divide(Decimal(numerator), Decimal(denominator)))
    if match["denominator"]:
        return _DIVISION.divide(value, Decimal(match["denominator"]))
    return value


def _read_digits(match: re.Match[str]) -> Decimal:
    if match["us"]:
        return Decimal(re.sub(r"[^\d.]", "", match["us"]))
    if match["spaced"]:
        return Decimal(re.sub(r"[^\d.]", "", match["spaced"].replace(",", ".")))
    european = match["eu"] or match["comma"] or _read_euros(match)
    if european:
        return Decimal(european.replace(".", "").replace(",", "."))
    return Decimal(match["plain"])


def _read_euros(match: re.Match[str]) -> str | None:
    """Take `1.234 €` for thousands: amounts of money have no three decimals."""
    money = f"{match['currency'] or ''}{match['paid_in'] or ''}"
    plain = match["plain"]
    has_decimal_comma = _MONEY_WITH_DECIMAL_COMMA.search(money) is not None
    return plain if has_decimal_comma and _THOUSANDS_OR_DECIMALS.fullmatch(plain) else None


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


def find_meant_numbers(text: str, numbers: Sequence[NumberInText]) -> Iterator[NumberInText]:
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
    """True if two neighbours say only together what is meant."""
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
