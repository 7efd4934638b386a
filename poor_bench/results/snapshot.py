"""Read and write `results.json`, the snapshot, without holding it in memory.

We write each record on a line of its own, so that our files can be read and merged line by line:

```
{"version":"1.0","results":{
"embedded:smollm2-135m":[
{"test_id":"math_001","score":1.0,"details":"...","response":"4","crc":"..."},
{"test_id":"math_002","score":0.0,"details":"...","response":"5","crc":"..."}
]
},"failures":{
}}
```

Any other layout of the same document (indented, one line, older tools) is read as a whole.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from poor_bench.command_line import next_command
from poor_bench.config.json_document import find_json_fault
from poor_bench.errors import StoreError
from poor_bench.runs.journal import CHECKSUM, add_checksum, dump_record, is_intact
from poor_bench.safe_files import load_json_text

_LOG = logging.getLogger(__name__)
VERSION = "1.0"
SECTIONS = ("results", "failures")
_OPEN_RESULTS = b'"results":{\n'
_BETWEEN = b'},"failures":{\n'
_END = b"}}\n"


class SnapshotRow(NamedTuple):
    """One record of the snapshot."""

    section: str
    """`results` or `failures`."""
    llm_id: str
    record: dict[str, Any]


def read_snapshot(
    stream: BinaryIO,
    path: Path,
    tell_changed: Callable[[Sequence[int]], None] | None = None,
) -> Iterator[SnapshotRow]:
    """Yield the rows of a snapshot in the order of the file.

    Args:
        stream: The snapshot, at its start.
        path: Its name, for messages.
        tell_changed: Called at the end with the numbers, from 1, of the lines that do not match
            their checksum, if there are any; a warning is logged by default.

    Raises:
        StoreError: If the file is damaged; it is left as it is.
    """
    first = stream.readline()
    if not first.endswith(_OPEN_RESULTS):
        stream.seek(0)
        yield from _list_rows(_load_whole(stream.read(), path), path)
        return
    changed: list[int] = []
    yield from _read_lines(stream, path, changed)
    if changed and tell_changed is not None:
        tell_changed(changed)
    elif changed:
        _LOG.warning("%s", _describe_changed_rows(path, changed))


def read_extras(stream: BinaryIO, path: Path) -> dict[str, Any]:
    """Read the top-level keys of a snapshot that are not ours, to keep them when it is rewritten.

    Raises:
        StoreError: If the file is damaged.
    """
    first = stream.readline()
    if first.endswith(_OPEN_RESULTS):
        document = _load_whole(first + b"}}", path)
    else:
        document = _load_whole(first + stream.read(), path)
    return {key: value for key, value in document.items() if key not in {"version", *SECTIONS}}


def write_snapshot(path: Path, extras: dict[str, Any], rows: Iterable[SnapshotRow]) -> int:
    """Replace the snapshot atomically; only whoever holds `snapshot_locked` may.

    Args:
        path: The file to replace; it is untouched until the new one is complete on the disk.
            Where it is a symbolic link, the file that it points to is replaced.
        extras: Further top-level keys.
        rows: Sorted by section (results first) and grouped by LLM.

    Returns:
        How many rows were written.

    Raises:
        StoreError: If the new file could not be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            n_rows = _write_rows(stream, extras, rows)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StoreError(
            f"{path}: the results file cannot be written: {error.strerror}",
            hint=f"Nothing is lost: the results are in {path.parent / 'journal'}; "
            "the next run adds them to the file.",
        ) from error
    return n_rows


def _write_rows(stream: BinaryIO, extras: dict[str, Any], rows: Iterable[SnapshotRow]) -> int:
    head = orjson.dumps({"version": VERSION, **extras}, option=orjson.OPT_NON_STR_KEYS)
    stream.write(head[:-1] + b"," + _OPEN_RESULTS)
    section, llm_id, n_rows = SECTIONS[0], None, 0
    for row in rows:
        n_rows += 1
        if row.section != section:
            stream.write((b"\n]\n" if llm_id is not None else b"") + _BETWEEN)
            section, llm_id = row.section, None
        if row.llm_id != llm_id:
            stream.write(b"\n],\n" if llm_id is not None else b"")
            stream.write(orjson.dumps(row.llm_id) + b":[\n")
            llm_id = row.llm_id
        else:
            stream.write(b",\n")
        stream.write(add_checksum(dump_record(row.record), row.llm_id))
    stream.write(b"\n]\n" if llm_id is not None else b"")
    stream.write((_BETWEEN if section == SECTIONS[0] else b"") + _END)
    return n_rows


def _read_lines(stream: BinaryIO, path: Path, changed: list[int]) -> Iterator[SnapshotRow]:
    section, llm_id, line = SECTIONS[0], "", b""
    for number, line in _without_padding(stream):
        if line.startswith(b"{"):
            text = line.rstrip(b",")
            record = _load_line(text, path, number)
            if not is_intact(text, llm_id):
                changed.append(number)
            yield SnapshotRow(section, llm_id, record)
        elif line.endswith(b":["):
            llm_id = str(_load_line(b"{" + line[:-1] + b"0}", path, number).popitem()[0])
        elif line == _BETWEEN.strip():
            section = SECTIONS[1]
        elif line not in {b"]", b"],", _END.strip()}:
            raise _report_damage(path, f"line {number} is not readable")
    if line != _END.strip():
        raise _report_damage(path, "its end is missing")


def _describe_changed_rows(path: Path, lines: Sequence[int]) -> str:
    """Say that rows are not as they were written; they count as they stand."""
    rows = "1 row does" if len(lines) == 1 else f"{len(lines)} rows do"
    return (
        f"{path}: {rows} not match the checksum, first at line {lines[0]}: edited by hand, or "
        f"damaged. `{next_command('results --repair')}` accepts what stands there."
    )


def _without_padding(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that is not blank: an editor may have padded it."""
    for number, line in enumerate(stream, start=2):
        content = line.strip()
        if content:
            yield number, content


def _load_line(text: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record: dict[str, Any] = orjson.loads(text)
        record.pop(CHECKSUM, None)
    except orjson.JSONDecodeError as error:
        message, _ = find_json_fault(error, text.decode("utf-8", "replace"), number)
        raise _report_damage(path, message) from error
    return record


def _needs_results(document: dict[str, Any]) -> bool:
    """True if a document holds something that results may stand in, under another name."""
    return "results" not in document and any(
        isinstance(value, dict | list) for key, value in document.items() if key not in SECTIONS
    )


def _load_whole(content: bytes, path: Path) -> dict[str, Any]:
    if not content.strip():
        raise _report_damage(path, "it is empty")
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        document = _load_with_nan(content, path)
    is_object = isinstance(document, dict) and isinstance(document.get("results", {}), dict)
    if not is_object or _needs_results(document):
        raise _report_damage(path, "it needs an object with the key `results`")
    whole: dict[str, Any] = document
    return whole


def _load_with_nan(content: bytes, path: Path) -> Any:
    """Read what Python's own writer may have left: NaN, Infinity."""
    try:
        return load_json_text(content.decode("utf-8-sig", "replace"))
    except json.JSONDecodeError as error:
        message, _ = find_json_fault(error, content.decode("utf-8-sig", "replace"))
        raise _report_damage(path, message) from error
    except ValueError as error:
        raise _report_damage(path, str(error)) from error


def _list_rows(document: dict[str, Any], path: Path) -> Iterator[SnapshotRow]:
    for section in SECTIONS:
        for llm_id, records in document.get(section, {}).items():
            if not isinstance(records, list) or not all(isinstance(row, dict) for row in records):
                raise _report_damage(path, f"{section}[{llm_id!r}] must be a list of objects")
            for record in records:
                record.pop(CHECKSUM, None)  # of a line that is not as it was
                yield SnapshotRow(section, llm_id, record)


def _report_damage(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"{path} is damaged: {reason}",
        hint=f"The file is unchanged. `{next_command('results --repair')}` keeps a copy of it and "
        "rebuilds it from its readable rows and the stored runs.",
    )
