"""Rebuild a damaged results file from what is readable and from the kept runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from poor_bench.errors import StoreError
from poor_bench.results.merge import MergedView
from poor_bench.results.paths import StorePaths, snapshot_locked
from poor_bench.results.snapshot import read_snapshot, write_snapshot
from poor_bench.runs.journal import CHECKSUM, dump_record, read_journal
from poor_bench.safe_files import open_regular

SALVAGED = "00000000T000000-salvaged.jsonl"
"""Name of the journal that the readable rows go to; sorts before every run."""


class Repaired(NamedTuple):
    """What came of a repair."""

    kept_as: Path
    """The damaged file under its new name."""
    n_rows: int
    """Rows that were read from the damaged file."""
    n_unreadable: int
    """Lines of the damaged file that were not readable."""
    n_runs: int
    """Kept runs whose results were used."""


def is_healthy(paths: StorePaths) -> bool:
    """True if a snapshot is as it was written, so that a repair would change nothing.

    Raises:
        StoreError: If no snapshot exists.
    """
    _require_snapshot(paths)
    changed: list[int] = []
    try:
        with open_regular(paths.snapshot) as stream:
            for _ in read_snapshot(stream, paths.snapshot, changed.extend):
                pass
    except StoreError:
        return False
    return not changed


def repair_snapshot(paths: StorePaths) -> Repaired:
    """Put a damaged snapshot aside and rebuild it.

    A row of the damaged file counts more than the same trial in a kept run, and a left-over
    journal more than both.

    Raises:
        StoreError: If no snapshot exists, or the new one cannot be written.
    """
    _require_snapshot(paths)
    with snapshot_locked(paths):
        return _rebuild(paths)


def _require_snapshot(paths: StorePaths) -> None:
    if not paths.snapshot.is_file():
        raise StoreError(
            f"{paths.snapshot}: the file does not exist",
            hint="Where something else has this name, move it away; the kept runs stand in "
            f"{paths.runs_dir}.",
        )


def _rebuild(paths: StorePaths) -> Repaired:
    rows, n_unreadable = _readable_rows(paths.snapshot)
    runs = paths.runs()
    salvaged = paths.journal_dir / SALVAGED
    with salvaged.open("wb") as stream:
        for record in (*_read_records(runs), *rows):
            stream.write(dump_record(record) + b"\n")
    kept_as = paths.snapshot.with_name(f"{paths.snapshot.name}.damaged-{int(time.time())}")
    paths.snapshot.replace(kept_as)
    with MergedView(paths, lambda llm_id: llm_id, lambda _path, _line: None) as view:
        write_snapshot(paths.snapshot, {}, view.rows())
    salvaged.unlink()
    return Repaired(kept_as, len(rows), n_unreadable, len(runs))


def _readable_rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Collect the rows on lines of their own, each with its LLM id, and count unreadable lines."""
    rows, n_unreadable, llm_id = [], 0, ""
    with open_regular(path) as stream:
        for line in map(bytes.strip, stream):
            if line.startswith(b'"') and line.endswith(b":["):
                llm_id = _llm_id(line)
            elif line.startswith(b'{"test_id"'):
                record = _record(line)
                if record is None or not llm_id:
                    n_unreadable += 1
                else:
                    rows.append({"llm_id": llm_id, **record})
    return rows, n_unreadable


def _llm_id(line: bytes) -> str:
    try:
        return str(orjson.loads(line[:-2]))
    except orjson.JSONDecodeError:
        return ""


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line.rstrip(b","))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(record, dict):
        return None
    record.pop(CHECKSUM, None)
    return record


def _read_records(journals: list[Path]) -> Iterator[dict[str, Any]]:
    for path in journals:
        with open_regular(path) as stream:
            for line in read_journal(stream, lambda _line: None):
                yield line.record
