"""A list out of a response: JSON, bullets, numbered or plain lines, or comma-separated.

The first notation that fits wins, in this order: a JSON list (see `json_value` for which one of
several), lines with bullets or numbers, and only where the whole response is nothing else: several
short lines, or one line with commas or semicolons. A line that reads like a sentence is no list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import Accepts, extract_json

_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\(?\d{1,4}[.):])[ \t]+(?P<item>[^\n]*\S)", re.MULTILINE)
_SEPARATOR = re.compile(r"[,;]")
_SENTENCE_ENDS = (".", "!", "?")
_MAX_PLAIN_ITEM = 80
_MAX_WORDS_IN_A_SENTENCE = 3
"""Longer items of one line are clauses if that ends like a sentence."""

AcceptsItem = Callable[[str], bool]


def is_list(value: Any) -> bool:
    """Return whether a JSON value is a list."""
    return isinstance(value, list)


def is_item(_item: str) -> bool:
    """Return True: any text may be an item."""
    return True


def extract_list(
    text: str,
    accepts: Accepts = is_list,
    *,
    accepts_item: AcceptsItem = is_item,
    lenient: bool = True,
) -> Extracted[list[Any]] | None:
    r"""Return the list in `text`, or None.

    Args:
        text: An answer, without thinking.
        accepts: Which JSON lists count; others are passed over.
        accepts_item: Which plain or comma-separated items count; other text with one that does
            not is no list.
        lenient: Whether to repair broken JSON.

    Returns:
        JSON items as they are; items of other notations as texts without the notation's signs.

    Example:
        >>> extract_list("Here:\n- red\n- green").value
        ['red', 'green']
    """
    of_json = extract_json(text, lambda value: is_list(value) and accepts(value), lenient=lenient)
    return of_json or _lines_with_marks(text) or _plain_items(text, accepts_item)


def _lines_with_marks(text: str) -> Extracted[list[Any]] | None:
    matches = list(_ITEM_LINE.finditer(text))
    if not matches:
        return None
    n_lines = sum(1 for line in text.splitlines() if line.strip())
    found = Found.BARE if n_lines == len(matches) else Found.IN_PROSE
    piece = text[matches[0].start() : matches[-1].end()]
    return Extracted([match["item"].strip() for match in matches], found, piece)


def _plain_items(text: str, accepts_item: AcceptsItem) -> Extracted[list[Any]] | None:
    blocks = fenced_blocks(text)
    body = blocks[-1].body if blocks else text
    items = [line.strip() for line in body.splitlines() if line.strip()]
    if len(items) == 1:
        items = _items_of_line(items[0])
    if len(items) < 2 or any(len(item) > _MAX_PLAIN_ITEM for item in items):
        return None
    if not all(map(accepts_item, items)):
        return None
    return Extracted(items, Found.FENCED if blocks else Found.BARE, body.strip())


def _items_of_line(line: str) -> list[str]:
    """Return what separators part; nothing where the line reads like a sentence."""
    items = [item.strip() for item in _SEPARATOR.split(line)]
    is_sentence = line.endswith(_SENTENCE_ENDS) and any(
        len(item.split()) > _MAX_WORDS_IN_A_SENTENCE for item in items
    )
    return [] if is_sentence else items
