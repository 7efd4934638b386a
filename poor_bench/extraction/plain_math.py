r"""Mathematical notation as plain text: LaTeX, typographic signs, vulgar fractions.

`\frac{1}{2}` becomes `1/2`, `1{,}234` becomes `1,234`, `2½` becomes `2 1/2`, a typographic minus
becomes `-`, and so does a leading "minus". What has no plain form stays as it is.
"""

from __future__ import annotations

import re
from decimal import Decimal

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


def plain_math(text: str) -> str:
    """Return `text` with mathematical notation made plain; other text is left as it is."""
    text = _WORDED_SIGN.sub(r"\g<before>-", text)
    if not text.isascii():
        text = _SUPERSCRIPT_POWER.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text)
        text = _VULGAR_FRACTION.sub(_plain_vulgar_fraction, text).translate(_SIGNS)
        text = _MYRIADS.sub(_sum_myriads, text)
    if "\\" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
        text = _FRACTION.sub(_plain_fraction, text)
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


def _plain_vulgar_fraction(match: re.Match[str]) -> str:
    fraction = _VULGAR_FRACTIONS[match["fraction"]]
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _plain_fraction(match: re.Match[str]) -> str:
    parts = (match["a"], match["b"]) if match["c"] is None else (match["c"], match["d"])
    numerator, denominator = (_in_parentheses(part.strip()) for part in parts)
    if _begins(match):
        numerator = _NEGATIVE.sub(r"\1", numerator)
    fraction = f"{numerator}/{denominator}"
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _begins(match: re.Match[str]) -> bool:
    """True if no factor stands before the fraction."""
    before = match.string[: match.start()].rstrip()[-1:]
    return match["whole"] is None and not (before.isalnum() or (before and before in ")}]^"))


def _in_parentheses(part: str) -> str:
    return part if _SIMPLE_FRACTION_PART.fullmatch(part) else f"({part})"
