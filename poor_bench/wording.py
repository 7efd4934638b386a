"""Words that messages of every layer share."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Example:
        >>> counted(1, "test"), counted(1200, "test"), counted(2, "class")
        ('1 test', '1,200 tests', '2 classes')
    """
    plural = f"{noun}es" if noun.endswith(("s", "ch", "x")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
