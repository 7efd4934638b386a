r"""Mathematical notation as plain text: LaTeX, typographic signs, fractions, number words.

`\frac{1}{2}` becomes `1/2`, `1{,}234` becomes `1,234`, `2½` becomes `2 1/2`, a typographic minus
becomes `-`, and so does a leading "minus". What has no plain form stays as it is.

Words are read where they are all that is said, or the only number of a short text: "one" is a
pronoun more often than an answer.
"""

from __future__ import annotations

import re
from decimal import Decimal

from poor_bench.extraction.normalise import WORD

_SIGNS = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{FRACTION SLASH}": "/",
        "\N{DIVISION SIGN}": "/",
        "\N{MULTIPLICATION SIGN}": "*",
        "\N{DOT OPERATOR}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{FIGURE SPACE}": "\N{NO-BREAK SPACE}",
        "\N{THIN SPACE}": "\N{NO-BREAK SPACE}",
        "\N{NARROW NO-BREAK SPACE}": "\N{NO-BREAK SPACE}",
        "\N{FULLWIDTH PLUS SIGN}": "+",
        "\N{FULLWIDTH HYPHEN-MINUS}": "-",
        "\N{FULLWIDTH FULL STOP}": ".",
        "\N{FULLWIDTH PERCENT SIGN}": "%",
        "\N{FULLWIDTH DOLLAR SIGN}": "$",
        "\N{FULLWIDTH YEN SIGN}": "¥",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    }
)
_MYRIADS = re.compile(
    r"(?:\d{1,4}(?:\.\d{1,8})?[兆조億亿억万萬만千百]\s?(?=\d)){1,5}\d{1,4}(?![\d.])[億亿억万萬만千百]?"
)
_MYRIAD = re.compile(r"(?P<digits>\d+(?:\.\d+)?)(?P<unit>[兆조億亿억万萬만千百]?)")
_POWERS_OF_MYRIADS = {
    "兆": 12, "조": 12, "億": 8, "亿": 8, "억": 8, "万": 4, "萬": 4, "만": 4, "千": 3, "百": 2,
    "": 0,
}  # fmt: skip
_WIDE_THOUSANDS = re.compile(r"(?<=[\uff10-\uff19])\N{FULLWIDTH COMMA}(?=[\uff10-\uff19]{3})")
_VULGAR_FRACTION = re.compile(r"(?P<whole>\d)?(?P<fraction>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])")
_VULGAR_FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4",
    "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6",
    "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_SUPERSCRIPT_POWER = re.compile(r"(?<=10)[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_FRACTION = re.compile(
    r"(?P<whole>\d)?\\[dt]?frac\s?(?:\{(?P<a>[^{}]*)\}\s?\{(?P<b>[^{}]*)\}|(?P<c>\d)(?P<d>\d))"
)
_SIMPLE_FRACTION_PART = re.compile(r"[\d.]*|\w")
_NEGATIVE = re.compile(r"\((-\d[\d.]*)\)")
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,;:! ]|\\(?:left|right|displaystyle)(?![A-Za-z])"), ""),
    (re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "*"),
    (re.compile(r"\\div(?![A-Za-z])"), "/"),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"\\[()\[\]]"), " "),
)


_WORDED_SIGN = re.compile(
    r"(?P<before>(?:^|[=:]|\b(?:is|be|equals))[\s*$(]{0,4})(?:minus|negative)\s+(?=[$\d.])",
    re.IGNORECASE | re.MULTILINE,
)


def write_plain_math(text: str) -> str:
    """Make mathematical notation plain; leave other text as it is."""
    text = _WORDED_SIGN.sub(r"\g<before>-", text)
    if not text.isascii():
        text = _SUPERSCRIPT_POWER.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text)
        text = _VULGAR_FRACTION.sub(_write_plain_vulgar_fraction, text).translate(_SIGNS)
        text = _MYRIADS.sub(_sum_myriads, _WIDE_THOUSANDS.sub(",", text))
    if "\\" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
        text = _FRACTION.sub(_write_plain_fraction, text)
    elif "{,}" in text:
        text = text.replace("{,}", ",")
    return text


def _sum_myriads(match: re.Match[str]) -> str:
    """Write `1億2000万` as 120000000, where the units fall from left to right."""
    parts = [
        (_POWERS_OF_MYRIADS[part["unit"]], part["digits"]) for part in _MYRIAD.finditer(match[0])
    ]
    powers = [power for power, _ in parts]
    if powers != sorted(set(powers), reverse=True):
        return match[0]
    total = sum((Decimal(digits).scaleb(power) for power, digits in parts), Decimal())
    return f"{total.normalize():f}"


def _write_plain_vulgar_fraction(match: re.Match[str]) -> str:
    fraction = _VULGAR_FRACTIONS[match["fraction"]]
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _write_plain_fraction(match: re.Match[str]) -> str:
    parts = (match["a"], match["b"]) if match["c"] is None else (match["c"], match["d"])
    numerator, denominator = (_put_in_parentheses(part.strip()) for part in parts)
    if _begins(match):
        numerator = _NEGATIVE.sub(r"\1", numerator)
    fraction = f"{numerator}/{denominator}"
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _begins(match: re.Match[str]) -> bool:
    """True if no factor stands before the fraction."""
    before = match.string[: match.start()].rstrip()[-1:]
    return match["whole"] is None and not (before.isalnum() or (before and before in ")}]^"))


def _put_in_parentheses(part: str) -> str:
    return part if _SIMPLE_FRACTION_PART.fullmatch(part) else f"({part})"


_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_GERMAN = (
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
    " sechzehn siebzehn achtzehn neunzehn zwanzig"
)
_FRENCH = (
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    " dix-sept dix-huit dix-neuf vingt"
)
_SPANISH = (
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis"
    " diecisiete dieciocho diecinueve veinte"
)
_UNITS = {word: value for value, word in enumerate(_ENGLISH.split())}
_UNITS |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_FOREIGN = {
    word: value
    for words in (_GERMAN, _FRENCH, _SPANISH)
    for value, word in enumerate(words.split(), 1)
}
_AMBIGUOUS = frozenset({"zero", "one", "un", "uno", "once", "six", "million", "dos", "acht"})
"""Not read within a text: pronouns, and words of another meaning in another language."""
_DIGITS = {word: value for value, word in enumerate("零一二三四五六七八九")} | {
    "\N{IDEOGRAPHIC NUMBER ZERO}": 0,
    "两": 2,
    "兩": 2,
}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_LARGE_PLACES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_NUMERALS = re.compile(
    r"(?P<negative>负|負|マイナス)?"
    r"(?P<numerals>[零\N{IDEOGRAPHIC NUMBER ZERO}一二两兩三四五六七八九十百千万萬亿億兆]{1,30})"
    r"(?:点(?P<places>[零\N{IDEOGRAPHIC NUMBER ZERO}一二三四五六七八九]{1,20}))?"
    r"(?:个|個|つ|人|本|枚|元|円|只|天|年|日|歳|岁)?(?:です|だ)?。?"
)
_AROUND = " \t\r\n.,;!*_`'\"$\N{IDEOGRAPHIC FULL STOP}"
_MAX_LENGTH = 120


def read_number_words(text: str) -> Decimal | None:
    """Read a text that is nothing but a number in words.

    Example:
        >>> read_number_words("Twenty-five"), read_number_words("三万五千")
        (Decimal('25'), Decimal('35000'))
    """
    folded = text.strip(_AROUND).casefold()
    if not folded or len(folded) > _MAX_LENGTH:
        return None
    if folded in _FOREIGN:
        return Decimal(_FOREIGN[folded])
    match = _NUMERALS.fullmatch(folded)
    return _read_numerals(match) if match else _read_english(folded)


def read_sole_word(text: str) -> Decimal | None:
    """Read the only number word of a text, such as in "a week has seven days".

    Example:
        >>> read_sole_word("A week has seven days."), read_sole_word("two or three") is None
        (Decimal('7'), True)
    """
    words = [part for word in WORD.findall(text.casefold()) for part in word.split("-")]
    places = [place for place, word in enumerate(words) if word in _UNITS or word in _SCALES]
    if not places or places[-1] - places[0] >= len(places):
        return None
    found = words[places[0] : places[-1] + 1]
    return None if found[0] in _AMBIGUOUS else _read_english(" ".join(found))


def _read_english(text: str) -> Decimal | None:
    words = [word for word in re.split(r"[\s-]+", text) if word != "and"]
    sign = -1 if words[:1] in (["minus"], ["negative"]) else 1
    words = words[1:] if sign < 0 else words
    if not words or not all(word in _UNITS or word in _SCALES for word in words):
        return None
    total = group = 0
    previous: int | None = None
    for word in words:
        if word in _UNITS:
            value = _UNITS[word]
            fits = previous is None or (previous >= 20 and previous % 10 == 0 and 0 < value < 10)
            if not fits and previous != 100:
                return None
            group, previous = group + value, value
        elif word == "hundred":
            group, previous = (group or 1) * 100, 100
        else:
            total, group, previous = total + (group or 1) * _SCALES[word], 0, None
    return Decimal(sign * (total + group))


def _read_numerals(match: re.Match[str]) -> Decimal | None:
    """Add up Chinese or Japanese numerals, `三万五千`; digits in a row, `一九九九`, as digits."""
    numerals = match["numerals"]
    if all(sign in _DIGITS for sign in numerals):
        value = int("".join(str(_DIGITS[sign]) for sign in numerals))
    elif numerals[0] in _LARGE_PLACES:
        return None
    else:
        value = _sum_numerals(numerals)
    places = "".join(str(_DIGITS[sign]) for sign in match["places"] or "")
    sign = "-" if match["negative"] else ""
    return Decimal(f"{sign}{value}.{places}" if places else f"{sign}{value}")


def _sum_numerals(numerals: str) -> int:
    total = group = digit = 0
    for sign in numerals:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign in _PLACES:
            group, digit = group + (digit or 1) * _PLACES[sign], 0
        else:
            total, group, digit = total + (group + digit) * _LARGE_PLACES[sign], 0, 0
    return total + group + digit
