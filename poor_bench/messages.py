"""Words that messages of every layer share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache


def write_count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Example:
        >>> write_count(1, "test"), write_count(1200, "test"), write_count(2, "class")
        ('1 test', '1,200 tests', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def write_share(share: float, digits: int = 0) -> str:
    """Write a share of 0.0 to 1.0 as a percentage.

    Example:
        >>> write_share(0.875), write_share(0.875, 1)
        ('88 %', '87.5 %')
    """
    return f"{100 * share:.{digits}f} %"


def plural(noun: str) -> str:
    """Form the plural of a noun.

    Example:
        >>> plural("test"), plural("class"), plural("entry")
        ('tests', 'classes', 'entries')
    """
    if noun.endswith(("s", "ch", "sh", "x")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def describe_invalid(error: Exception) -> str:
    """Describe why data are not valid, on one line; of an error of pydantic, the first place.

    Example:
        >>> describe_invalid(KeyError("winner")), describe_invalid(ValueError("is too long"))
        ('`winner` is missing', 'is too long')
    """
    if isinstance(error, KeyError):
        return f"`{error.args[0]}` is missing"
    list_errors = getattr(error, "errors", None)
    if list_errors is None:
        return str(error)
    first = list_errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def cut_text(text: str, max_length: int) -> str:
    """Cut a foreign text to `max_length` characters and make it storable: no lone surrogates.

    Example:
        >>> cut_text("abcdef", 4), cut_text(chr(0xD800), 9) == chr(92) + "ud800"
        ('abc…', True)
    """
    cut = text if len(text) <= max_length else f"{text[: max_length - 1]}…"
    return cut.encode("utf-8", "backslashreplace").decode()[:max_length]


def write_removed_tests(n_results: int) -> str:
    """Say that results of tests that are not in tests.json are left out; the same on all screens.

    Example:
        >>> write_removed_tests(2)
        '2 results of removed tests (not in tests.json) are not counted'
    """
    verb = "is" if n_results == 1 else "are"
    results = write_count(n_results, "result")
    return f"{results} of removed tests (not in tests.json) {verb} not counted"


def write_disabled_tests(n_tests: int) -> str:
    """Say that disabled tests are left out; the same on all screens.

    Example:
        >>> write_disabled_tests(1)
        '1 disabled test is skipped'
    """
    return f"{write_count(n_tests, 'disabled test')} {'is' if n_tests == 1 else 'are'} skipped"


def stale_text(n_stale: int, n_scored: int) -> str:
    """Say how many scores are stale; the same on all screens.

    Example:
        >>> stale_text(2, 448)
        '2 of 448 scores are stale: their prompt, parameters or evaluator changed since'
    """
    verb = "is" if n_stale == 1 else "are"
    return (
        f"{n_stale:,} of {write_count(n_scored, 'score')} {verb} stale: "
        "their prompt, parameters or evaluator changed since"
    )


_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0"
"""Drawn as nothing or as a line break, though Unicode calls them letters, marks or separators."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U00013430-\U0001343f"
    f"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff{_BLANK}]"
)
_ZWNJ, _ZWJ, _AS_TEXT, _AS_EMOJI = "\u200c\u200d\ufe0e\ufe0f"
_EMOJI = frozenset({"So", "Sk", "Sm", "Po"})
_JOINED_SCRIPTS = frozenset(
    [
        "ARABIC",
        "SYRIAC",
        "MONGOLIAN",
        "DEVANAGARI",
        "BENGALI",
        "GURMUKHI",
        "GUJARATI",
        "ORIYA",
        "TAMIL",
        "TELUGU",
        "KANNADA",
        "MALAYALAM",
        "SINHALA",
        "TIBETAN",
        "MYANMAR",
        "KHMER",
    ]
)
"""Scripts whose spelling needs joiners within words."""


def harmless(text: str) -> str:
    r"""Replace each character that commands a terminal, reorders text or cannot be seen.

    Control characters become their pictures, the others a name such as `⟨U+202E⟩`. Newlines and
    tabs stay, and so do joiners within emoji and within words of scripts that need them. Applying
    it twice changes nothing.

    Example:
        >>> harmless("a\x1b[1m\u202eb")
        'a␛[1m⟨U+202E⟩b'
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _UNSEEN.sub(_name_unless_needed, text)


def _name_unless_needed(match: re.Match[str]) -> str:
    character, text = match[0], match.string
    before, behind = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if before and character in {_AS_TEXT, _AS_EMOJI}:
        is_keycap = before in "0123456789#*" and behind == "\u20e3"
        is_needed = is_keycap or (not before.isascii() and _find_category(before) in _EMOJI)
    elif before and behind and character in {_ZWNJ, _ZWJ}:
        is_needed = _joins_emoji(character, before, behind) or _joins_word(before, behind)
    else:
        is_needed = False
    return character if is_needed else _name_unseen(character)


def _joins_emoji(joiner: str, before: str, behind: str) -> bool:
    is_behind_emoji = before == _AS_EMOJI or _find_category(before) in {"So", "Sk"}
    return joiner == _ZWJ and is_behind_emoji and _find_category(behind) == "So"


def _joins_word(before: str, behind: str) -> bool:
    return {_find_script(before), _find_script(behind)} <= _JOINED_SCRIPTS


def _find_category(character: str) -> str:
    return unicodedata.category(character)


def _find_script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


@lru_cache(maxsize=4096)
def _name_unseen(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def join_names(names: Collection[str], limit: int = 8) -> str:
    """List some names and the number of the others.

    Example:
        >>> join_names(["a", "b", "c"], limit=2)
        'a, b and 1 more'
    """
    shown = ", ".join(list(names)[:limit])
    n_more = len(names) - limit
    return f"{shown} and {n_more} more" if n_more > 0 else shown
