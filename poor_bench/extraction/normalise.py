"""Texts in one form, so that both sides of a comparison are treated alike."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
WORD = re.compile(r"\w+(?:['-]\w+)*")
"""A word of folded text."""
_EDGE = " \t\r\n.,;:!?\"'`*_()[]{}<>"
_TYPOGRAPHIC = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\N{SOFT HYPHEN}")
) | str.maketrans(
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
    "\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}",
    "''\"\"-----",
)
"""What text processors write for the signs of a keyboard, and signs that nobody sees."""


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
