"""Take run files of other machines into a store: the same outcome in whatever order they come.

A run is a set of lines. Copies of a run, cut off, damaged or whole, are united; what is stored here
is one of the copies. The lines of a united run are sorted by time and, where that is equal, by
their bytes, so that the same lines make the same file. Nothing in the store changes before all
united files are complete on the disk.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poor_bench.errors import StoreError
from poor_bench.models.result import Result, record_to_result
from poor_bench.results.paths import StorePaths
from poor_bench.results.run_files import RunFile, group_by_run
from poor_bench.results.sorted_lines import sort_lines
from poor_bench.results.store import ResultStore
from poor_bench.runs.journal import add_checksum, dump_record, read_header, read_journal
from poor_bench.safe_files import open_regular, os_errors_told

DRAFT = ".merging"
"""Ending of files that are not complete yet."""
FindFault = Callable[[Result], str]
"""Says why a result does not belong to the workspace; empty where it does."""
_HERE, _BROUGHT = b"0", b"1"
_SEPARATOR = b"\0"
"""Never part of a line of JSON."""


@dataclass
class TakenRun:
    """What became of one run."""

    run_id: str
    files: tuple[Path, ...]
    n_taken: int = 0
    """Results that are new here."""
    n_known: int = 0
    """Results that were here before or came twice."""
    n_damaged: int = 0
    """Lines that are not readable."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Results that were left, by reason."""


class Incoming:
    """Run files that are to enter a store."""

    def __init__(self, store: ResultStore, files: Iterable[RunFile], find_fault: FindFault) -> None:
        """Read nothing yet.

        Args:
            store: Where they go.
            files: As `find_run_files` found them; those of the store itself stay where they are.
            find_fault: Decides on each result; it must not depend on other results.
        """
        self._paths = store.paths
        self._store = store
        self._find_fault = find_fault
        own = {path.resolve() for path in (*store.paths.runs(), *store.paths.journals())}
        brought = (file for file in files if file.path.resolve() not in own)
        self._runs = group_by_run(brought)
        self.n_closed = 0
        """Runs of the store itself that nobody wrote to any more, and that `take` closed."""

    def preview(self) -> list[TakenRun]:
        """Find out what `take` would do; nothing changes.

        Raises:
            StoreError: If a file cannot be read.
        """
        return [self._unite(run_id, files, None) for run_id, files in self._runs.items()]

    def take(self) -> list[TakenRun]:
        """Take the files in, and close the runs of the store that nobody writes to any more.

        Raises:
            StoreError: If a file cannot be read, or the disk is full. The store is as before
                then, or has all of them; the same command finishes the rest.
        """
        taken, drafts = [], dict[str, Path]()
        with os_errors_told(self._paths.snapshot):
            self._paths.journal_dir.mkdir(parents=True, exist_ok=True)
            _remove_drafts(self._paths)
            try:
                for run_id, files in self._runs.items():
                    draft = self._paths.journal_dir / f".{run_id}{DRAFT}"
                    taken.append(self._unite(run_id, files, draft))
                    if taken[-1].n_taken:
                        drafts[run_id] = draft
                self.n_closed = self._store.bring_in(drafts)
            finally:
                _remove_drafts(self._paths)
        return taken

    def _unite(self, run_id: str, files: Sequence[RunFile], draft: Path | None) -> TakenRun:
        """Unite the copies of a run, those that are here included, into a draft if one is named."""
        run = TakenRun(run_id, tuple(file.path for file in files))
        present = self._paths.run_file(run_id)
        marked = self._mark_lines(run, files, present)
        folder = self._paths.snapshot.parent
        lines = _count_lines(run, sort_lines(marked, folder))
        if draft is None:
            for _ in lines:
                pass
            return run
        _write(draft, _make_header(run_id, files, present), lines)
        return run

    def _mark_lines(
        self, run: TakenRun, files: Sequence[RunFile], present: Path | None
    ) -> Iterator[bytes]:
        """Yield the lines of all copies, with what they are sorted by and where they are from."""
        if present is not None:
            for record in _read(present, lambda _number: None):
                yield _SEPARATOR.join((*_key(record), _HERE))
        for file in files:
            damaged = list[int]()
            for record in _read(file.path, damaged.append):
                if self._is_taken(run, dict(record)):
                    yield _SEPARATOR.join((*_key(record), _BROUGHT))
            run.n_damaged += len(damaged)

    def _is_taken(self, run: TakenRun, record: dict[str, Any]) -> bool:
        try:
            result = record_to_result(str(record.pop("llm_id")), record)
        except (ValueError, TypeError, KeyError):
            run.n_damaged += 1
            return False
        fault = self._find_fault(result)
        if fault:
            run.skipped[fault] += 1
        return not fault


def _read(path: Path, tell_damaged: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    with os_errors_told(path), open_regular(path) as stream:
        for line in read_journal(stream, tell_damaged):
            yield line.record


def _key(record: dict[str, Any]) -> tuple[bytes, bytes, bytes]:
    """Sort key of a line, the line last: a score settles the failure of the same moment."""
    moment = dump_record({"": str(record.get("timestamp", ""))})
    return moment, b"0" if "failure" in record else b"1", add_checksum(dump_record(record))


def _count_lines(run: TakenRun, marked: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each line once; count those that are new."""
    before = b""
    for each in marked:
        _, _, line, origin = each.split(_SEPARATOR)
        is_new = line != before
        if origin == _BROUGHT:
            run.n_taken += is_new
            run.n_known += not is_new
        if is_new:
            yield line
        before = line


def _make_header(run_id: str, files: Sequence[RunFile], present: Path | None) -> bytes:
    """Make the first line of a run: the same one for the same copies."""
    headers = [file.header for file in files]
    if present is not None:
        headers.append(read_header(present))
    known = [{"run": header} for header in headers if header]
    return max(add_checksum(dump_record(each)) for each in known or [{"run": {"run_id": run_id}}])


def _write(path: Path, header: bytes, lines: Iterable[bytes]) -> None:
    """Write a file and bring it to the disk.

    Raises:
        StoreError: If the disk does not take it; nothing is left of it then.
    """
    try:
        with path.open("wb") as stream:
            stream.write(header + b"\n")
            stream.writelines(line + b"\n" for line in lines)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            path.unlink()
        raise StoreError(
            f"{path.parent}: run files cannot be written: {error.strerror or error}",
            hint="Nothing was merged and nothing is lost. Free some space and run it again.",
        ) from error


def _remove_drafts(paths: StorePaths) -> None:
    """Remove what a merge that was killed left."""
    for path in paths.journal_dir.glob(f".*{DRAFT}"):
        with contextlib.suppress(OSError):
            path.unlink()
