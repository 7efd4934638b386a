"""Change entries of a list within the text of a JSON file: all else stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENTATION = re.compile(r"\n([ \t]+)\S")


def with_entries(text: str, key: str, entries: Sequence[Any]) -> str | None:
    """Return a text with other entries in its list; None where only writing it anew will do.

    What an entry is written like is kept where it says the same; others and new ones are written
    like their neighbours, on one line or on many.

    Args:
        text: Valid JSON: the list, or an object with it.
        key: The key under which the list stands in the object.
        entries: The new entries; those that stay stand in their old places.
    """
    spans = _spans(text, _list_start(text, key))
    if not spans or len(entries) < len(spans):
        return None
    line_start = text.rfind("\n", 0, spans[-1][0]) + 1
    margin = text[line_start : spans[-1][0]]
    if not line_start or margin.strip():
        return None
    pieces, at = [], 0
    for (start, end), entry in zip(spans, entries, strict=False):
        pieces += [text[at:start], _rewritten(text[start:end], entry, margin, text)]
        at = end
    last = text[slice(*spans[-1])]
    between = f",{_newline(text)}{margin}"
    pieces += [f"{between}{_like(last, entry, margin, text)}" for entry in entries[len(spans) :]]
    return "".join([*pieces, text[at:]])


def indentation_of(text: str) -> str | int:
    """Return what a text indents its first level by."""
    match = _INDENTATION.search(text)
    return match[1] if match else 2


def _rewritten(written: str, entry: Any, margin: str, text: str) -> str:
    is_same = json.dumps(json.loads(written)) == json.dumps(entry)
    return written if is_same else _like(written, entry, margin, text)


def _like(written: str, entry: Any, margin: str, text: str) -> str:
    indent = indentation_of(text) if "\n" in written else None
    shown = json.dumps(entry, ensure_ascii=False, indent=indent)
    return shown.replace("\n", f"{_newline(text)}{margin}")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _spans(text: str, list_start: int) -> list[tuple[int, int]]:
    """Return where each entry begins and ends."""
    spans = []
    at = _after_space(text, list_start + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return spans


def _list_start(text: str, key: str) -> int:
    at = _after_space(text, 0)
    if text[at] == "[":
        return at
    while True:
        name, at = _DECODER.raw_decode(text, _after_space(text, at + 1))
        at = _after_space(text, _after_space(text, at) + 1)
        if name == key:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, at)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
