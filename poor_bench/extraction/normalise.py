"""Texts in one form, so that both sides of a comparison are treated alike."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}-]\w+)*")
_EDGE = (
    " \t\r\n.,;:!?\"'`*_()[]{}<>\N{HORIZONTAL ELLIPSIS}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)


def fold_text(text: str) -> str:
    r"""Return `text` without differences of case, of Unicode form and of white space.

    Example:
        >>> fold_text("  Full\tWIDTH ")
        'full width'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _SPACE.sub(" ", text.casefold()).strip()


def fold_answer(text: str) -> str:
    """Return `fold_text(text)` without punctuation and emphasis around it.

    Example:
        >>> fold_answer("**Positive.**")
        'positive'
    """
    return fold_text(text).strip(_EDGE)


def words(text: str) -> list[str]:
    """Return the words of `text` in order, folded."""
    return _WORD.findall(fold_text(text))
