"""File of one search: a header and events, one JSON object per line, append-only.

```
{"tuning":{"run_id":"20261122T025007-3f2a91","kind":"prompt","started":"2026-11-22T02:50:07Z"}}
{"attempt":{"text":"5d41402a","case_id":"math_001","score":1.0}}
```
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from filelock import FileLock, Timeout

from poor_bench.errors import StoreError
from poor_bench.runs.journal import dump_record
from poor_bench.safe_files import open_regular

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
