"""Stored searches: one file each, with a header and events, one JSON object per line, append-only.

```
{"tuning":{"run_id":"20261122T025007-3f2a91","kind":"prompt","started":"2026-11-22T02:50:07Z"}}
{"attempt":{"text":"5d41402a","case_id":"math_001","score":1.0}}
```
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from filelock import FileLock, Timeout

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError, StoreError
from poor_bench.runs.journal import dump_record
from poor_bench.safe_files import open_regular


class StopReason(StrEnum):
    """Reason for the end of a search."""

    FINISHED = "finished"
    """Everything planned was run."""
    THRESHOLD = "threshold"
    """The target score is reached."""
    NO_GAIN = "no_gain"
    """No gain in the last rounds."""
    BUDGET = "budget"
    """The call budget is used up."""
    COST = "cost"
    """The next step would exceed the cost limit."""
    LLM_FAILED = "llm_failed"
    """A model cannot be reached, or its answers cannot be scored."""
    CANCELLED = "cancelled"
    """The user stopped it."""

    @property
    def can_go_on(self) -> bool:
        """True if the same search can continue."""
        return self in _UNFINISHED


_UNFINISHED = frozenset(
    {StopReason.BUDGET, StopReason.COST, StopReason.LLM_FAILED, StopReason.CANCELLED}
)


class SearchStoppedError(Exception):
    """A search cannot continue; its results so far are stored.

    Attributes:
        reason: Why.
    """

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


FOLDER = "tuning"
HEADER = "tuning"


class TuningLine(NamedTuple):
    """One line behind the header."""

    kind: str
    content: dict[str, Any]


class TuningFile:
    """Appends to the file of a search; one process at a time, any number of threads."""

    def __init__(self, path: Path, header: Mapping[str, Any] | None = None) -> None:
        """Make the file with its header, or open the one there is where no header is given.

        Raises:
            StoreError: If it cannot be written, or another process writes to it.
        """
        self.path = path
        self._lock = threading.Lock()
        self._owner = FileLock(path.with_suffix(".lock"), thread_local=False)
        mode = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if header is not None else 0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._owner.acquire(timeout=0)
            torn = header is None and _is_torn(path)
            self._fd = os.open(path, mode, 0o644)
        except (OSError, Timeout) as error:
            self._owner.release()
            raise _cannot_write(path, error) from error
        if torn:
            self._write(b"\n")
        if header is not None:
            self.append(HEADER, header)

    def append(self, kind: str, content: Mapping[str, Any]) -> None:
        """Store one line so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored; what was stored before stays as it was.
        """
        line = dump_record({kind: dict(content)}) + b"\n"
        with self._lock:
            self._write(line)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
                self._owner.release()

    def _write(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            os.fsync(self._fd)
        except OSError as error:
            raise _cannot_write(self.path, error) from error


def read_lines(path: Path) -> Iterator[TuningLine]:
    """Read the valid lines of a search's file, header first.

    Raises:
        StoreError: If it cannot be read.
    """
    try:
        with open_regular(path) as stream:
            for line in stream:
                parsed = _parse(line)
                if parsed is not None:
                    yield parsed
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def tuning_folder(data_dir: Path) -> Path:
    """Folder of the searches of a workspace."""
    return data_dir / FOLDER


def _parse(line: bytes) -> TuningLine | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(record, dict) or len(record) != 1:
        return None
    [(kind, content)] = record.items()
    return TuningLine(kind, content) if isinstance(content, dict) else None


def _is_torn(path: Path) -> bool:
    """True if the last line is incomplete, so that a newline is needed."""
    with open_regular(path) as stream:
        if stream.seek(0, os.SEEK_END) == 0:
            return False
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) != b"\n"


def _cannot_write(path: Path, error: Exception) -> StoreError:
    is_used = isinstance(error, Timeout)
    reason = "another process is writing the file" if is_used else getattr(error, "strerror", None)
    return StoreError(f"cannot write {path}: {reason or error}")


LAST = "last"
"""Refers to the newest search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSearch:
    """One stored search."""

    path: Path
    header: Mapping[str, Any]
    lines: tuple[TuningLine, ...]

    @property
    def run_id(self) -> str:
        """Names the search."""
        return self.path.stem

    @property
    def kind(self) -> str:
        """`prompt` or `params`."""
        return str(self.header.get("kind", ""))

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Records of one kind, oldest first."""
        return [line.content for line in self.lines if line.kind == kind]

    def last(self, kind: str) -> dict[str, Any] | None:
        """Newest record of one kind, or None."""
        found = self.of_kind(kind)
        return found[-1] if found else None


def kept_searches(data_dir: Path) -> list[KeptSearch]:
    """List the searches of a workspace, oldest first.

    Raises:
        StoreError: If one cannot be read.
    """
    return [read_search(path) for path in sorted(tuning_folder(data_dir).glob("*.jsonl"))]


def read_search(path: Path) -> KeptSearch:
    """Read one search.

    Raises:
        StoreError: If its file cannot be read.
    """
    lines = list(read_lines(path))
    header = lines[0].content if lines and lines[0].kind == HEADER else {}
    return KeptSearch(path=path, header=header, lines=tuple(lines[1:] if header else lines))


def find_search(data_dir: Path, reference: str, kind: str = "") -> KeptSearch:
    """Find a search by reference.

    Args:
        data_dir: Folder of the workspace.
        reference: `last`, or the id of a search or its beginning.
        kind: What kind it must be of; empty for any.

    Raises:
        ConfigError: If there is no such search, or several begin like that.
        StoreError: If it cannot be read.
    """
    searches = [item for item in kept_searches(data_dir) if kind in {"", item.kind}]
    if reference == LAST:
        found = searches[-1:]
    else:
        found = [item for item in searches if item.run_id.startswith(reference)]
    if len(found) == 1:
        return found[0]
    what = f"search {kind}".strip()
    if found:
        raise ConfigError(f"{reference!r} matches several searches", hint=_names(found))
    hint = _names(searches) or f"none yet: {next_command('tune prompt CLASS --llm ID')}"
    raise ConfigError(f"the {what} {reference!r} does not exist", hint=hint)


def _names(searches: Sequence[KeptSearch]) -> str:
    return ", ".join(search.run_id for search in reversed(searches[-5:]))
