"""A list out of a response: JSON, bullets, numbered or plain lines, or comma-separated.

The first notation that fits wins, in this order: a JSON list (see `json_value` for which one of
several), lines with bullets or numbers, an HTML list, a Markdown table, and only where the whole
response, or the last LaTeX box, is nothing else: several short lines, or one line with commas,
semicolons, arrows, spaces between numbers, or "and" before the last item, in any of several
languages, also in brackets. Words that lead up to
it ("Colors:", "The colors are") are no part of it. A line that otherwise reads like a sentence is
no list. Bullets under bullets are no items.

What explains an item is no part of it: what follows a bold beginning (`- **red**: long waves`), or
a colon or dash where each item has one. Of a table the first column counts that is no numbering.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from poor_bench.extraction.fences import find_fenced_blocks, find_last_boxed
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import Accepts, extract_json
from poor_bench.extraction.refusal import is_refusal

_ITEM_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:[-*+•\N{EN DASH}]|\d\ufe0f?\u20e3|\(?(?:\d{1,4}[.):]|[a-z]\)))[ \t]"
    r"|[・●▪◦‣■□])[ \t]*+(?P<item>[^\n]*\S)",
    re.MULTILINE | re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"<li\b[^<>]{0,200}>\s{0,99}(?P<item>[^<>]{1,400}?)\s{0,99}</li>", re.IGNORECASE
)
_COPULA = re.compile(r"(?:です|である|になります|だ|입니다)[。.]?\Z")
_TABLE_LINE = re.compile(r"^[ \t]*\|(?P<cells>[^\n]*?)\|?[ \t]*$", re.MULTILINE)
_RULE_OF_TABLE = re.compile(r"\s{0,9}:?-+:?\s{0,9}")
_CELL_END = re.compile(r"(?<!\\)\|")
_BOLD_BEGINNING = re.compile(
    r"\A(?P<bold>\*\*|__)(?P<item>[^*_\n]{1,80}?)[:：]?(?P=bold)\s{0,9}"
    r"(?:[:：(\N{EN DASH}\N{EM DASH}-]|(?<=[:：]\*\*)|(?<=[:：]__))[^\n]*\S"
)
_EXPLAINED = re.compile(
    r"\A(?P<item>[^:：\n]{1,60}?)(?:[:：]\s|\s[\N{EN DASH}\N{EM DASH}-]\s)\s{0,9}"
    r"\S{1,80}\s{1,9}[^\n]*\S"
)
_SEPARATOR = re.compile(r"[,;、，；،]")
_ARROW = re.compile(r"\s(?:->|=>|[<>\N{RIGHTWARDS ARROW}])\s")
_BRACKETED = re.compile(r"\((?P<round>[^()\[\]{}]*)\)\.?|\\?\{(?P<curly>[^()\[\]{}:]*?)\\?\}\.?")
_LAST = re.compile(
    r"\s(?:and|und|sowie|et|y|e|och|og|en|oraz|(?-i:i)|ja|és|și|ve|και|и|та|और|dan|và|그리고|및)"
    r"\s{1,9}(?=\S)",
    re.IGNORECASE,
)
_LAST_WITHOUT_SPACES = re.compile(r"(?:以及|和|与|及び|および|そして|と|及)(?=\S)")
_LEADING = re.compile(r"^[^:,;\n]{1,80}:\s+(?P<rest>[^:\n]+)")
_STATING = re.compile(
    r"^[^,;:\n]{1,60}?\b(?:is|are|were|sind|sont|son|sono|são|zijn|är|er)\s+(?P<rest>[^:\n]+)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"^[-+]?\d+(?:\.\d+)?(?:[ \t]+[-+]?\d+(?:\.\d+)?)+")
_SENTENCE_ENDS = (".", "!", "?", "。")
_MAX_PLAIN_ITEM = 80
_MAX_WORDS_IN_A_SENTENCE = 3
"""Longer items of one line are clauses if that ends like a sentence."""

AcceptsItem = Callable[[str], bool]


def is_list(value: Any) -> bool:
    """True if a JSON value is a list."""
    return isinstance(value, list)


def is_item(_item: str) -> bool:
    """Accept anything: any text may be an item."""
    return True


def extract_list(
    text: str,
    accepts: Accepts = is_list,
    *,
    accepts_item: AcceptsItem = is_item,
    lenient: bool = True,
) -> Extracted[list[Any]] | None:
    r"""Find the list in `text`, or None.

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
    if of_json is not None or is_refusal(text):
        return of_json
    return (
        _read_lines_with_marks(text)
        or _read_elements(text)
        or _read_table(text)
        or _read_plain_items(text, accepts_item)
    )


def _read_lines_with_marks(text: str) -> Extracted[list[Any]] | None:
    matches = list(_ITEM_LINE.finditer(text))
    if not matches:
        return None
    n_lines = sum(1 for line in text.splitlines() if line.strip())
    items = [match["item"].strip() for match in _keep_outermost(matches)]
    bare = _drop_explanations(items)
    found = Found.BARE if n_lines == len(matches) and bare == items else Found.IN_PROSE
    return Extracted(list(bare), found, text[matches[0].start() : matches[-1].end()])


def _read_elements(text: str) -> Extracted[list[Any]] | None:
    """Read the items of an HTML list."""
    matches = list(_ELEMENT.finditer(text))
    if not matches:
        return None
    piece = text[matches[0].start() : matches[-1].end()]
    return Extracted([match["item"] for match in matches], Found.IN_PROSE, piece)


def _drop_explanations(items: list[str]) -> list[str]:
    bold = [_BOLD_BEGINNING.fullmatch(item) for item in items]
    if any(bold):
        return [match["item"] if match else item for match, item in zip(bold, items, strict=True)]
    explained = [match["item"] for item in items if (match := _EXPLAINED.fullmatch(item))]
    return explained if len(explained) == len(items) > 1 else items


def _read_table(text: str) -> Extracted[list[Any]] | None:
    """Read the first column of a Markdown table that does not number its rows."""
    lines = list(_TABLE_LINE.finditer(text))
    rows = [[cell.strip() for cell in _CELL_END.split(line["cells"])] for line in lines]
    if len(rows) < 3 or not all(map(_RULE_OF_TABLE.fullmatch, rows[1])):
        return None
    columns = list(zip(*rows[2:], strict=False))
    numbering = tuple(str(number) for number in range(1, len(rows) - 1))
    items = next((column for column in columns if _drop_stops(column) != numbering), ())
    n_lines = sum(1 for line in text.splitlines() if line.strip())
    found = Found.BARE if n_lines == len(lines) and len(columns) == 1 else Found.IN_PROSE
    piece = text[lines[0].start() : lines[-1].end()]
    return Extracted([item for item in items if item], found, piece) if any(items) else None


def _drop_stops(column: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell.strip(".)") for cell in column)


def _keep_outermost(matches: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Yield the items that stand under no other; the first one's indentation may be cut off."""
    depths = [len(match["indent"].expandtabs(4)) for match in matches]
    deepest = min(depths[1:] if matches[0].start() == 0 and depths[1:] else depths) + 1
    yield from (match for match, depth in zip(matches, depths, strict=True) if depth <= deepest)


def _read_plain_items(text: str, accepts_item: AcceptsItem) -> Extracted[list[Any]] | None:
    blocks = find_fenced_blocks(text)
    boxed = find_last_boxed(text)
    body, found = text, Found.BARE
    if blocks:
        body, found = blocks[-1].body, Found.FENCED
    elif boxed is not None:
        body, found = boxed, Found.BOXED
    items, is_led = _split(body)
    if len(items) < 2 or any(len(item) > _MAX_PLAIN_ITEM for item in items):
        return None
    if not all(map(accepts_item, items)):
        return None
    if is_led and found is Found.BARE:
        found = Found.ANNOUNCED
    return Extracted(items, found, body.strip())


def _split(body: str) -> tuple[list[str], bool]:
    """Find the items, and whether words lead up to them."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    is_led = len(lines) > 1 and lines[0].endswith(":")
    if is_led:
        lines = lines[1:]
    if len(lines) != 1:
        return lines, is_led
    for leading, is_clause in ((_LEADING, False), (_STATING, True)):
        match = leading.fullmatch(lines[0])
        items = _split_line(match["rest"], of_clause=is_clause) if match else []
        if len(items) > 1:
            return items, True
    return _split_line(lines[0]), is_led


def _split_line(line: str, *, of_clause: bool = False) -> list[str]:
    """Split a line at separators; empty if it reads like a sentence or an object."""
    if '":' in line:
        return []
    if _NUMBERS.fullmatch(line):
        return line.split()
    if bracketed := _BRACKETED.fullmatch(line):
        line = bracketed["round"] or bracketed["curly"] or ""
    separator = _SEPARATOR if _SEPARATOR.search(line) else _ARROW
    items = [item.strip() for item in separator.split(line)]
    *before, last = [item for item in items if item] or [""]
    last = _COPULA.sub("", last) if before else last
    joining = _LAST_WITHOUT_SPACES if before and "、" in line else _LAST
    items = [*before, *(part for part in joining.split(f" {last}", maxsplit=1) if part.strip())]
    is_sentence = (of_clause or line.endswith(_SENTENCE_ENDS)) and any(
        len(item.split()) > _MAX_WORDS_IN_A_SENTENCE for item in items
    )
    return [] if is_sentence else [item.strip() for item in items]
