"""Texts in one form, so that both sides of a comparison are treated alike."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
WORD = re.compile(r"\w+(?:['-]\w+)*")
"""A word of folded text."""
WORD_CHARACTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Pattern of a character of words in scripts that put spaces between words.

Japanese, Chinese and Korean do not: `答案是D` holds the label `D`, `abcD` does not.
"""
_EDGE = " \t\r\n.,;:!?\"'`*_()[]{}<>"
_INVISIBLE = re.compile(
    "[\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}"
    "\N{ZERO WIDTH NO-BREAK SPACE}\u2060-\u2064\u202a-\u202e\u2066-\u2069]"
    # these join emoji and letters of some scripts, and mean nothing at either end
    "|\\A[\u200c\u200d]+|[\u200c\u200d]+(?=\\s{0,99}\\Z)"
)
_TYPOGRAPHIC = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\N{SOFT HYPHEN}")
) | str.maketrans(
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
    "\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}",
    "''\"\"-----",
)
"""What text processors write for the signs of a keyboard, and signs that nobody sees."""


def without_invisible(text: str) -> str:
    r"""Remove characters that nobody sees: byte order marks, soft hyphens, marks of direction.

    Example:
        >>> without_invisible("\ufeff1\u200b8")
        '18'
    """
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold_form(text: str) -> str:
    """Return `text` without differences of Unicode form, typography and white space.

    Example:
        >>> fold_form("It isn\N{RIGHT SINGLE QUOTATION MARK}t\N{NO-BREAK SPACE}so")
        "It isn't so"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)
    return _SPACE.sub(" ", text).strip()


def fold_text(text: str) -> str:
    r"""Return `fold_form(text)` without differences of case.

    Example:
        >>> fold_text("  Full\tWIDTH ")
        'full width'
    """
    return fold_form(text).casefold()


def fold_answer(text: str) -> str:
    """Return `fold_text(text)` without punctuation and emphasis around it, if anything is left.

    Example:
        >>> fold_answer("**Positive.**"), fold_answer("?")
        ('positive', '?')
    """
    folded = fold_text(text)
    return folded.strip(_EDGE) or folded


def words(text: str) -> list[str]:
    """Return the words of `text` in order, folded."""
    return WORD.findall(fold_text(text))
