"""A list out of a response: JSON, bullets, numbered or plain lines, or comma-separated.

The first notation that fits wins, in this order: a JSON list (see `json_value` for which one of
several), lines with bullets or numbers, and only where the whole response is nothing else: several
short lines, or one line with commas or semicolons.
"""

from __future__ import annotations

import re
from typing import Any

from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import Accepts, extract_json

_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\(?\d{1,4}[.):])[ \t]+(?P<item>[^\n]*\S)", re.MULTILINE)
_SEPARATOR = re.compile(r"[,;]")
_MAX_PLAIN_ITEM = 80


def is_list(value: Any) -> bool:
    """Return whether a JSON value is a list."""
    return isinstance(value, list)


def extract_list(
    text: str, accepts: Accepts = is_list, *, lenient: bool = True
) -> Extracted[list[Any]] | None:
    r"""Return the list in `text`, or None.

    Args:
        text: An answer, without thinking.
        accepts: Which JSON lists count; others are passed over.
        lenient: Whether to repair broken JSON.

    Returns:
        JSON items as they are; items of other notations as texts without the notation's signs.

    Example:
        >>> extract_list("Here:\n- red\n- green").value
        ['red', 'green']
    """
    of_json = extract_json(text, lambda value: is_list(value) and accepts(value), lenient=lenient)
    return of_json or _lines_with_marks(text) or _plain_items(text)


def _lines_with_marks(text: str) -> Extracted[list[Any]] | None:
    matches = list(_ITEM_LINE.finditer(text))
    if not matches:
        return None
    n_lines = sum(1 for line in text.splitlines() if line.strip())
    found = Found.BARE if n_lines == len(matches) else Found.IN_PROSE
    piece = text[matches[0].start() : matches[-1].end()]
    return Extracted([match["item"].strip() for match in matches], found, piece)


def _plain_items(text: str) -> Extracted[list[Any]] | None:
    blocks = fenced_blocks(text)
    body = blocks[-1].body if blocks else text
    items = [line.strip() for line in body.splitlines() if line.strip()]
    if len(items) == 1:
        items = [item.strip() for item in _SEPARATOR.split(items[0])]
    if len(items) < 2 or any(len(item) > _MAX_PLAIN_ITEM for item in items):
        return None
    return Extracted(items, Found.FENCED if blocks else Found.BARE, body.strip())
