"""Find the run files that others bring: files, folders of files, workspaces."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from poor_bench.errors import ConfigError, StoreError
from poor_bench.results.store import RUN_VERSION
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import read_header, read_journal
from poor_bench.safe_files import open_regular

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
