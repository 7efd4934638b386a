"""Words that messages of every layer share."""

from __future__ import annotations

import unicodedata


def write_count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Example:
        >>> write_count(1, "test"), write_count(1200, "test"), write_count(2, "class")
        ('1 test', '1,200 tests', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


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


def cut_text(text: str, max_length: int) -> str:
    """Cut a foreign text to `max_length` characters and make it storable: no lone surrogates.

    Example:
        >>> cut_text("abcdef", 4), cut_text(chr(0xD800), 9) == chr(92) + "ud800"
        ('abc…', True)
    """
    cut = text if len(text) <= max_length else f"{text[: max_length - 1]}…"
    return cut.encode("utf-8", "backslashreplace").decode()[:max_length]


def removed_tests_text(n_results: int) -> str:
    """Say that results of tests that are not in tests.json are left out; the same on all screens.

    Example:
        >>> removed_tests_text(2)
        '2 results of removed tests (not in tests.json) are not counted'
    """
    verb = "is" if n_results == 1 else "are"
    results = write_count(n_results, "result")
    return f"{results} of removed tests (not in tests.json) {verb} not counted"


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


def harmless(text: str) -> str:
    """Replace what could command a terminal: escapes and other control characters.

    Newlines and tabs stay; every other control character becomes its visible picture or U+FFFD.
    """
    return "".join(_show_character(character) for character in text)


def _show_character(character: str) -> str:
    if character in "\n\t":
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
        return "\ufffd"
    return character
