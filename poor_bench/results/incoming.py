"""Take run files of other machines into a store: the same outcome in whatever order they come.

A run is a set of lines. Copies of a run, cut off, damaged or whole, are united; what is stored here
is one of the copies. The lines of a united run are sorted by time and, where that is equal, by
their bytes, so that the same lines make the same file. Nothing in the store changes before all
united files are complete on the disk.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from poor_bench.errors import ConfigError, StoreError
from poor_bench.models.result import Result, record_to_result
from poor_bench.results.merge import sort_lines
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import RUN_VERSION, ResultStore
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import add_checksum, dump_record, read_header, read_journal
from poor_bench.safe_files import open_regular, tell_os_errors

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
    cut: list[Path] = field(default_factory=list)
    """Files that end in the middle of a line: of a run that was killed, or copied in part."""
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
        with tell_os_errors(self._paths.snapshot):
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
            if _is_cut(file.path):
                run.cut.append(file.path)

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
    with tell_os_errors(path), open_regular(path) as stream:
        for line in read_journal(stream, tell_damaged):
            yield line.record


def _is_cut(path: Path) -> bool:
    with tell_os_errors(path), open_regular(path) as stream:
        n_bytes = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, n_bytes - 1))
        return stream.read(1) not in {b"", b"\n"}


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


_ID = re.compile(r"\d{8}T\d{4,6}[0-9A-Za-z-]{0,60}", re.ASCII)
"""Ids of runs, which are names of files here."""
_MAJOR = RUN_VERSION.partition(".")[0]
_LOOKED_AT = 20
"""Lines after which a file without a result is taken for something else."""


class RunFile(NamedTuple):
    """A run file of this or another machine."""

    path: Path
    run_id: str
    header: Mapping[str, Any]
    """Empty if its first line is not readable."""


class PassedOver(NamedTuple):
    """A file that is not used."""

    path: Path
    reason: str


class FoundRuns(NamedTuple):
    """What stands in some files and folders."""

    files: list[RunFile]
    passed_over: list[PassedOver]


class _UnusableError(Exception):
    """A file is not usable, for the reason that the message gives."""


def find_run_files(sources: Sequence[Path]) -> FoundRuns:
    """Find the run files in some files and folders, each once, whatever the order.

    Raises:
        ConfigError: If a source does not exist or holds no run file, or a named file is not one.
        StoreError: If the system refuses to read a source.
    """
    files: dict[Path, RunFile] = {}
    passed_over: dict[Path, PassedOver] = {}
    for source in sources:
        n_before = len(files)
        for path in _list_candidates(source):
            real = path.resolve()
            try:
                if path.is_symlink() and path != source:
                    raise _UnusableError("is a symbolic link; name the file itself")
                files[real] = _look_at(path)
            except _UnusableError as error:
                if path == source:
                    raise ConfigError(f"{path} {error}", hint=_HINT) from error
                passed_over[path] = PassedOver(path, str(error))
            except OSError as error:
                raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
        if len(files) == n_before and not any(_is_in(real, source) for real in files):
            raise ConfigError(f"{source} holds no run file", hint=_explain(source, passed_over))
    return FoundRuns(
        sorted(files.values(), key=lambda file: (file.run_id, str(file.path))),
        sorted(passed_over.values()),
    )


_HINT = "Name files of the folders journal/, sealed/ or runs/ of a workspace, or the workspace."


def _explain(source: Path, passed_over: Mapping[Path, PassedOver]) -> str:
    """Say why a folder holds no run file."""
    inside = [each for path, each in passed_over.items() if path.is_relative_to(source)]
    if inside:
        return f"{inside[0].path} {inside[0].reason}. {_HINT}"
    return _HINT


def _is_in(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder.resolve())


def _list_candidates(source: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder that may be run files."""
    if not source.exists():
        raise ConfigError(f"{source} does not exist", hint=_HINT)
    if not source.is_dir():
        yield source
        return
    for folder, folders, names in os.walk(source, onerror=_refuse):
        folders[:] = sorted(name for name in folders if name != "index")
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".jsonl"))


def _refuse(error: OSError) -> None:
    raise StoreError(f"{error.filename} cannot be read: {error.strerror}") from error


def _look_at(path: Path) -> RunFile:
    """Read the beginning of a file.

    Raises:
        _UnusableError: If it is not a run file of tests.
        OSError: If it cannot be read.
    """
    header = read_header(path)
    version = str(header.get("version", RUN_VERSION))
    if version.partition(".")[0] != _MAJOR:
        by = f" by poor_bench {header['poor_bench']}" if header.get("poor_bench") else ""
        raise _UnusableError(
            f"is written in format {version}{by}; this version reads {_MAJOR}.x: update it"
        )
    if not _holds_results(path):
        raise _UnusableError("is not a run file with results of tests")
    if header.get("kind") == EARLIER:
        raise _UnusableError("holds scores that were replaced on its machine")
    run_id = str(header.get("run_id", path.stem))
    if not _ID.fullmatch(run_id):
        raise _UnusableError(f"has no usable run id: {run_id[:80]!r}")
    return RunFile(path, run_id, header)


def _holds_results(path: Path) -> bool:
    with open_regular(path) as stream:
        lines = read_journal(stream, lambda _number: None)
        return any(_is_result(line.record) for line in islice(lines, _LOOKED_AT))


def _is_result(record: Mapping[str, Any]) -> bool:
    has_outcome = "score" in record or "failure" in record
    return has_outcome and "test_id" in record and "llm_id" in record


def group_by_run(files: Iterable[RunFile]) -> dict[str, list[RunFile]]:
    """Group copies of the same run, oldest run first."""
    groups: dict[str, list[RunFile]] = {}
    for file in files:
        groups.setdefault(file.run_id, []).append(file)
    return dict(sorted(groups.items()))
