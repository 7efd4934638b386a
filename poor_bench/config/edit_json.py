"""Change the entries of tests.json and llms.json, and keep all else that stands in the file.

Other entries stay as somebody wrote them, to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from poor_bench.config.document import (
    Document,
    Report,
    lock_for_writing,
    open_document,
    read_text,
    write_atomically,
)
from poor_bench.config.json_document import parse_json
from poor_bench.config.load import (
    raise_errors,
)


def edit_entries(
    path: Path,
    key: str,
    change: Callable[[list[Any]], None],
    check: Callable[[Document, Report], object],
) -> tuple[str, str]:
    """Let `change` alter the list of entries of a file, and write it if `check` finds no error.

    Comments (keys that begin with `_`), keys that nothing reads and the form in which all other
    entries are written survive.

    Args:
        path: The file.
        key: The key under which the entries stand.
        change: Alters the list of raw entries in place.
        check: Notes what is wrong with the changed file.

    Returns:
        The text of the file before and after.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, or cannot be
            written; it is untouched then.
    """
    with lock_for_writing(path):
        document, report = open_document(path, parse_json)
        if document is not None:
            check(document, report)
        raise_errors(report.problems)
        assert document is not None
        entries = document.data if isinstance(document.data, list) else document.data[key]
        change(entries)
        before = read_text(path)
        text = write_entries(before, key, entries) or _write_anew(before, document.data)
        report = Report(str(path))
        check(parse_json(text), report)
        raise_errors(report.problems)
        write_atomically(path, text)
    return before, text


def _write_anew(before: str, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, indent=find_indentation(before))
    return f"{text}\n"


_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENTATION = re.compile(r"\n([ \t]+)\S")


def write_entries(text: str, key: str, entries: Sequence[Any]) -> str | None:
    """Write a text with other entries in its list; None where only writing it anew will do.

    What an entry is written like is kept where it says the same; others and new ones are written
    like their neighbours, on one line or on many.

    Args:
        text: Valid JSON: the list, or an object with it.
        key: The key under which the list stands in the object.
        entries: The new entries; where some are gone, the others stand in their old order.
    """
    spans = _find_spans(text, _list_start(text, key))
    if len(entries) < len(spans):
        return _drop_removed(text, spans, entries)
    if not spans:
        return None
    line_start = text.rfind("\n", 0, spans[-1][0]) + 1
    margin = text[line_start : spans[-1][0]]
    if not line_start or margin.strip():
        return None
    written = [text[start:end] for start, end in spans]
    known = {json.dumps(json.loads(each)): each for each in written}
    shown = [
        known.get(json.dumps(entry)) or _write_like(like, entry, margin, text)
        for entry, like in zip_longest(entries, written, fillvalue=written[-1])
    ]
    pieces, at = [], 0
    for (start, end), entry_text in zip(spans, shown, strict=False):
        pieces += [text[at:start], entry_text]
        at = end
    between = f",{_find_newline(text)}{margin}"
    pieces += [f"{between}{entry_text}" for entry_text in shown[len(spans) :]]
    return "".join([*pieces, text[at:]])


def _drop_removed(
    text: str, spans: Sequence[tuple[int, int]], entries: Sequence[Any]
) -> str | None:
    """Cut entries out of a text; None where the others do not say the same in the same order."""
    left = [json.dumps(entry) for entry in entries]
    pieces: list[str] = []
    for number, (start, end) in enumerate(spans):
        is_kept = len(pieces) < len(left) and (
            json.dumps(json.loads(text[start:end])) == left[len(pieces)]
        )
        if is_kept:
            between = text[spans[number - 1][1] if number else 0 : start]
            pieces.append(f"{between if pieces else ''}{text[start:end]}")
    if not pieces or len(pieces) < len(left):
        return None
    return f"{text[: spans[0][0]]}{''.join(pieces)}{text[spans[-1][1] :]}"


def find_indentation(text: str) -> str | int:
    """Find the indentation of the first level of a text."""
    match = _INDENTATION.search(text)
    return match[1] if match else 2


def _write_like(written: str, entry: Any, margin: str, text: str) -> str:
    """Write an entry in the form of another; values that say the same stay as they are written."""
    if "\n" not in written or not (isinstance(entry, dict) and written.startswith("{")):
        return _write_value(entry, margin, text, is_on_one_line="\n" not in written)
    members = _find_members(written, 0)
    before = {name: written[at : _DECODER.raw_decode(written, at)[1]] for name, at in members}
    indent, newline = find_indentation(text), _find_newline(text)
    inner = margin + (indent if isinstance(indent, str) else " " * indent)
    lines = [
        f"{inner}{json.dumps(name, ensure_ascii=False)}: "
        + _write_member(name, value, before, inner, text)
        for name, value in entry.items()
    ]
    return f"{{{newline}{f',{newline}'.join(lines)}{newline}{margin}}}" if lines else "{}"


def _write_member(name: str, value: Any, before: Mapping[str, str], margin: str, text: str) -> str:
    """Write a value as it was; else lists and objects like the one before it, or the others."""
    known = before.get(name)
    if known is not None and json.dumps(json.loads(known)) == json.dumps(value):
        return known
    nested = {key: shown for key, shown in before.items() if shown[0] in "[{"}
    like = [nested[name]] if name in nested else [*nested.values()]
    is_on_one_line = bool(like) and not any("\n" in shown for shown in like)
    return _write_value(value, margin, text, is_on_one_line=is_on_one_line)


def _write_value(value: Any, margin: str, text: str, *, is_on_one_line: bool) -> str:
    indent = None if is_on_one_line else find_indentation(text)
    shown = json.dumps(value, ensure_ascii=False, indent=indent)
    return shown.replace("\n", f"{_find_newline(text)}{margin}")


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _find_spans(text: str, list_start: int) -> list[tuple[int, int]]:
    """Find where each entry begins and ends."""
    spans = []
    at = _skip_space(text, list_start + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        at = _skip_space(text, end)
        if text[at] == ",":
            at = _skip_space(text, at + 1)
    return spans


def _list_start(text: str, key: str) -> int:
    at = _skip_space(text, 0)
    if text[at] == "[":
        return at
    return next(start for name, start in _find_members(text, at) if name == key)


def _find_members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Yield each name of an object that begins at `at`, and where its value begins."""
    at = _skip_space(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _skip_space(text, _skip_space(text, at) + 1)
        yield name, start
        _, end = _DECODER.raw_decode(text, start)
        at = _skip_space(text, end)
        if text[at] == ",":
            at = _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
