"""Change the entries of tests.json and llms.json, and keep all else that stands in the file.

Other entries stay as somebody wrote them, to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
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
from poor_bench.config.entry_validation import is_comment
from poor_bench.config.json_document import parse_json
from poor_bench.config.load import (
    TESTS_FILE,
    decode_llms_file,
    decode_tests_file,
    llms_file,
    raise_errors,
)
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM, base_llm_id, think_suffix
from poor_bench.models.test import TestClass


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
        text = with_entries(before, key, entries) or _write_anew(before, document.data)
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


def with_entries(text: str, key: str, entries: Sequence[Any]) -> str | None:
    """Write a text with other entries in its list; None where only writing it anew will do.

    What an entry is written like is kept where it says the same; others and new ones are written
    like their neighbours, on one line or on many.

    Args:
        text: Valid JSON: the list, or an object with it.
        key: The key under which the list stands in the object.
        entries: The new entries; where some are gone, the others stand in their old order.
    """
    spans = _spans(text, _list_start(text, key))
    if len(entries) < len(spans):
        return _without_removed(text, spans, entries)
    if not spans:
        return None
    line_start = text.rfind("\n", 0, spans[-1][0]) + 1
    margin = text[line_start : spans[-1][0]]
    if not line_start or margin.strip():
        return None
    written = [text[start:end] for start, end in spans]
    known = {json.dumps(json.loads(each)): each for each in written}
    shown = [
        known.get(json.dumps(entry)) or _like(like, entry, margin, text)
        for entry, like in zip_longest(entries, written, fillvalue=written[-1])
    ]
    pieces, at = [], 0
    for (start, end), entry_text in zip(spans, shown, strict=False):
        pieces += [text[at:start], entry_text]
        at = end
    between = f",{_newline(text)}{margin}"
    pieces += [f"{between}{entry_text}" for entry_text in shown[len(spans) :]]
    return "".join([*pieces, text[at:]])


def _without_removed(
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


def _like(written: str, entry: Any, margin: str, text: str) -> str:
    indent = find_indentation(text) if "\n" in written else None
    shown = json.dumps(entry, ensure_ascii=False, indent=indent)
    return shown.replace("\n", f"{_newline(text)}{margin}")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _spans(text: str, list_start: int) -> list[tuple[int, int]]:
    """Find where each entry begins and ends."""
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


def change_test(
    data_dir: Path,
    test_id: str,
    changes: Mapping[str, Any],
    test_classes: Mapping[str, TestClass],
) -> None:
    """Write new values of some keys of one test; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        test_id: Which test.
        changes: Key to value; None takes the key away.
        test_classes: Class id to class, to check the changed test against.

    Raises:
        ConfigError: If the test does not exist, or the file, as it was or as it would be, has an
            error, or cannot be written; it is untouched then.
    """
    edit_entries(
        data_dir / TESTS_FILE,
        "tests",
        lambda entries: _change(entries, lambda entry: entry["test_id"] == test_id, changes),
        lambda document, report: decode_tests_file(document, test_classes, report),
    )


def tag_tests(
    data_dir: Path, tag: str, test_ids: Collection[str], test_classes: Mapping[str, TestClass]
) -> None:
    """Give some tests a tag and take it from all others; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        tag: The tag.
        test_ids: Tests that shall have it.
        test_classes: Class id to class, to check the changed tests against.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, or cannot be written;
            it is untouched then.
    """

    def change(entries: list[Any]) -> None:
        for entry in entries:
            tags = [each for each in entry.get("tags") or [] if each != tag]
            tags += [tag] if entry["test_id"] in test_ids else []
            if tags:
                entry["tags"] = tags
            else:
                entry.pop("tags", None)

    edit_entries(
        data_dir / TESTS_FILE,
        "tests",
        change,
        lambda document, report: decode_tests_file(document, test_classes, report),
    )


def change_llm(
    data_dir: Path, llms: tuple[LLM, ...], llm_id: str, changes: Mapping[str, Any]
) -> None:
    """Write new values of some keys of one LLM; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        llms: The LLMs in the order of the file, as it was read.
        llm_id: Which LLM.
        changes: Key to value; None takes the key away.

    Raises:
        ConfigError: If the LLM does not exist, or the file, as it was or as it would be, has an
            error, or cannot be written; it is untouched then.
    """
    [place] = [number for number, llm in enumerate(llms) if llm.id == llm_id] or [-1]

    def change(entries: list[Any]) -> None:
        wanted = (llms[place].provider, llms[place].name) if place >= 0 else None
        found = entries[place] if 0 <= place < len(entries) else {}
        if wanted != (found.get("provider"), found.get("name")):
            raise ConfigError(f"llms.json no longer has the model {llm_id!r}", hint="Look again.")
        _put(found, changes)

    edit_entries(llms_file(data_dir), "llms", change, decode_llms_file)


def _change(
    entries: list[Any], is_wanted: Callable[[Any], bool], changes: Mapping[str, Any]
) -> None:
    found = [entry for entry in entries if is_wanted(entry)]
    if not found:
        raise ConfigError("the file no longer has this test", hint="Look again.")
    _put(found[0], changes)


def _put(entry: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = _with_comments(value, entry.get(key))


def _with_comments(value: Any, before: Any) -> Any:
    """Complete a new value by the comments (keys with `_`) that stood in the old one."""
    if not (isinstance(value, dict) and isinstance(before, dict)):
        return value
    return {key: old for key, old in before.items() if is_comment(key)} | value


def add_llms(data_dir: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Add entries to the end of llms.json.

    A twin of a model that is listed already gets an explicit `id`, so that the id of the listed
    one, and with it the way to its results, stays what it is.

    Args:
        data_dir: Folder of the workspace.
        entries: As they shall stand in the file.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, or cannot be
            written; it is untouched then.
    """

    def change(listed: list[Any]) -> None:
        for entry in entries:
            listed.append(_tell_apart(entry, listed))

    edit_entries(llms_file(data_dir), "llms", change, decode_llms_file)


def _tell_apart(entry: Mapping[str, Any], listed: Sequence[Any]) -> dict[str, Any]:
    """Give `entry` an explicit id if one of the listed has the same one by default."""
    if entry.get("id") or not any(are_namesakes(entry, other) for other in listed):
        return dict(entry)
    base = base_llm_id(str(entry.get("provider")), str(entry.get("name")))
    suffix = think_suffix(entry.get("parameters", {}).get("think"))
    return {**entry, "id": base + suffix} if suffix else dict(entry)


def are_namesakes(entry: Mapping[str, Any], other: Any) -> bool:
    """True if two entries have the same id by default, and the other names none of its own."""
    return (
        isinstance(other, dict)
        and not other.get("id")
        and all(entry.get(key) == other.get(key) for key in ("provider", "name"))
    )
