"""Messages of ours as sentences."""

from __future__ import annotations

from poor_bench.errors import PoorBenchError


def sentences(*parts: str) -> str:
    """Return parts of a message one after the other, each as a sentence.

    Example:
        >>> sentences("the file is gone", "", "Restore it.")
        'The file is gone. Restore it.'
    """
    text = ""
    for part in filter(None, parts):
        between = " " if text.endswith((".", "!", "?")) else ". " if text else ""
        text += between + part[:1].upper() + part[1:]
    return text


def error_text(error: PoorBenchError) -> str:
    """Return what is wrong, and the way out."""
    return sentences(str(error), error.hint)
