"""Texts in one form, so that both sides of a comparison are treated alike."""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"\w+(?:['-]\w+)*")
"""A word of folded text."""
WORD_CHARACTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Pattern of a character of words in scripts that put spaces between words.

Japanese, Chinese and Korean do not: `答案是D` holds the label `D`, `abcD` does not.
"""
_EDGE = " \t\r\n.,;:!?\"'`*_()[]{}<>\N{IDEOGRAPHIC FULL STOP}"
_EDGE_EMOJI = re.compile(
    "\\A[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\\s]+(?=\\w)"
    "|(?<=\\w)[.!]?[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\\s]+\\Z"
)
"""Pictures before or behind words, such as check marks."""
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


def drop_invisible(text: str) -> str:
    r"""Remove characters that nobody sees: byte order marks, soft hyphens, marks of direction.

    Example:
        >>> drop_invisible("\ufeff1\u200b8")
        '18'
    """
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold_form(text: str) -> str:
    """Remove differences of Unicode form, typography and white space.

    Example:
        >>> fold_form("It isn\N{RIGHT SINGLE QUOTATION MARK}t\N{NO-BREAK SPACE}so")
        "It isn't so"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)
    return " ".join(text.split())


def fold_text(text: str) -> str:
    r"""Remove the differences that `fold_form` removes, and those of case.

    Example:
        >>> fold_text("  Full\tWIDTH ")
        'full width'
    """
    return fold_form(text).casefold()


def fold_answer(text: str) -> str:
    """Fold a text, without punctuation, emphasis and emoji around it, if anything is left.

    Example:
        >>> fold_answer("**Positive.**"), fold_answer("?"), fold_answer("red \N{LARGE RED CIRCLE}")
        ('positive', '?', 'red')
    """
    folded = fold_text(text)
    if not folded.isascii():
        folded = _EDGE_EMOJI.sub("", folded.strip(_EDGE)) or folded
    return folded.strip(_EDGE) or folded


_OFFER = re.compile(
    r"\n[ \t]{0,9}\n[^\w\n]{0,9}(?:let me know|would you like|do you want|feel free|happy to"
    r"|hope (?:this|that)|i hope|if you(?:'d| would| want| need| have)|shall i|want me to"
    r"|is there anything|lass (?:es )?mich|möchtest du|möchten sie|soll ich|ich hoffe"
    r"|sag (?:mir )?(?:einfach )?bescheid|wenn du (?:möchtest|willst)|n'hésite[sz]?|souhaite[sz]"
    r"|veux-tu|voulez-vous|dites-moi|dis-moi|si (?:tu|vous) (?:veux|voulez|souhaite[sz])|j'espère"
    r"|¿(?:quieres|te gustaría|desea)|avísame|dime si|si (?:quieres|necesitas|deseas)|espero que)"
    r"\b[^\n]{0,400}\s{0,9}\Z",
    re.IGNORECASE,
)


def drop_offer(text: str) -> str:
    r"""Remove a last paragraph that only offers more help.

    Example:
        >>> drop_offer("It costs $250.\n\nLet me know if you need the 3 steps!")
        'It costs $250.'
    """
    return _OFFER.sub("", text)


def words(text: str) -> list[str]:
    """Split `text` into its words in order, folded."""
    return WORD.findall(fold_text(text))
