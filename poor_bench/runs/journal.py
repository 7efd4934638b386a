"""The append-only journal of one run: one JSON object a line.

The first line is the run's header, every other line one result:

```
{"run":{"run_id":"20261121T225007-3f2a","started":"2026-11-21T22:50:07Z"},"crc":"..."}
{"llm_id":"embedded:smollm2-135m","test_id":"math_001","score":1.0,"details":"...","crc":"..."}
```

A line is written by one `write` call, so a process that dies leaves at most one torn line, the
last; readers leave it out. Lines reach the disk itself at most `fsync_interval_s` later.
"""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from poor_bench.errors import StoreError
from poor_bench.models.result import Result, result_to_record
from poor_bench.safe_files import open_regular

_HEADER_KEYS = ("run", "tuning")
"""Key of a header; the second is that of searches which older versions wrote."""


class JournalLine(NamedTuple):
    """One readable line of a journal."""

    offset: int
    """Where the line starts, in bytes."""
    record: dict[str, Any]


class JournalWriter:
    """Appends the results of one run; may be called from several threads."""

    def __init__(
        self, path: Path, header: Mapping[str, Any] | None, *, fsync_interval_s: float = 1.0
    ) -> None:
        """Start a journal, or go on with the one there is where no header is given.

        Raises:
            StoreError: If it cannot be written, or another process writes to it.
        """
        from filelock import FileLock

        self.path = path
        self._fsync_interval_s = fsync_interval_s
        self._synced_at = time.monotonic()
        self._lock = threading.Lock()
        self._owner = FileLock(find_owner_lock(path), thread_local=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._owner.acquire(timeout=0)
            created = os.O_APPEND if header is None else os.O_APPEND | os.O_CREAT | os.O_EXCL
            self._fd = os.open(path, os.O_RDWR | created, 0o644)
            self._size = 0 if header is not None else _cut_torn_line(self._fd)
        except OSError as error:  # such as a timeout of the lock
            self._owner.release()
            raise _make_write_error(path, error) from error
        if header is not None:
            self._write(add_checksum(dump_record({"run": dict(header)})) + b"\n")

    def append(self, result: Result) -> None:
        """Store one result so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored; what was stored before stays as it was.
        """
        self.append_record(result_to_record(result))

    def append_record(self, record: dict[str, Any]) -> None:
        """Store one record, whatever it tells, in the same way; it must have no key `run`.

        Raises:
            StoreError: If it could not be stored; what was stored before stays as it was.
        """
        line = add_checksum(dump_record(record)) + b"\n"
        with self._lock:
            self._write(line)

    def close(self) -> None:
        """Bring everything to the disk and give up the journal.

        Raises:
            StoreError: If the disk did not take it.
        """
        with self._lock:
            if self._fd < 0:
                return
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise _make_write_error(self.path, error) from error
            finally:
                os.close(self._fd)
                self._fd = -1
                self._owner.release()

    def _write(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            now = time.monotonic()
            if now - self._synced_at >= self._fsync_interval_s:
                os.fsync(self._fd)
                self._synced_at = now
        except OSError as error:
            self._cut_back()
            raise _make_write_error(self.path, error) from error
        self._size += len(line)

    def _cut_back(self) -> None:
        """Remove what a failed write left, so that the next line starts on a line of its own."""
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            return


def _cut_torn_line(fd: int) -> int:
    """Remove the line that a killed process left half-written; return the size of the rest."""
    size = os.fstat(fd).st_size
    with open(fd, "rb", closefd=False) as stream:
        end = 0
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
    if end < size:
        os.ftruncate(fd, end)
    return end


def read_journal(
    lines: Iterable[bytes], report_damage: Callable[[int], None]
) -> Iterator[JournalLine]:
    """Yield the result lines of a journal, without its header.

    Args:
        lines: Of the journal, from its start on; such as the open file.
        report_damage: Called with the number, from 1, of each line that is not as it was written;
            such lines are not yielded. A blank or a torn last one does not count.
    """
    offset = 0
    for number, line in enumerate(lines, start=1):
        record = _parse(line) if is_intact(line.rstrip()) else None
        if record is None:
            if _is_damaged(line):
                report_damage(number)
        elif record.keys().isdisjoint(_HEADER_KEYS):
            yield JournalLine(offset, record)
        offset += len(line)


class JournalFollower:
    """Reads a growing journal; each line once."""

    def __init__(self, path: Path) -> None:
        """Start at the beginning."""
        self.path = path
        self._position = 0

    def new_records(self) -> Iterator[dict[str, Any]]:
        """Yield what was added, without the header and without a line that is not complete yet.

        Raises:
            OSError: If the journal is gone or cannot be read.
        """
        with open_regular(self.path) as stream:
            stream.seek(self._position)
            for line in read_journal(self._complete_lines(stream), lambda _number: None):
                yield line.record

    def _complete_lines(self, stream: BinaryIO) -> Iterator[bytes]:
        for line in takewhile(lambda line: line.endswith(b"\n"), stream):
            self._position += len(line)
            yield line


def _is_damaged(line: bytes) -> bool:
    """Tell damage from the line that a dying process left: that one lacks its last bytes."""
    return bool(line.strip()) and (line.endswith(b"\n") or is_whole(line))


def read_header(path: Path) -> dict[str, Any]:
    """Read the header of a journal; empty where it is unreadable."""
    with open_regular(path) as stream:
        first = _parse(stream.readline())
    headers = ((first or {}).get(key) for key in _HEADER_KEYS)
    return next((header for header in headers if isinstance(header, dict)), {})


def read_record_at(stream: BinaryIO, offset: int) -> dict[str, Any]:
    """Read the record of the line at `offset`, as found before by `read_journal`."""
    stream.seek(offset)
    record: dict[str, Any] = orjson.loads(stream.readline())
    record.pop(CHECKSUM, None)
    return record


def is_owned(path: Path) -> bool:
    """True if a running process still writes to this journal."""
    from filelock import FileLock, Timeout

    lock = FileLock(find_owner_lock(path), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def list_left_over(journals: Sequence[Path]) -> list[Path]:
    """Journals of runs that have ended without merging them: interrupted or killed ones."""
    return [path for path in journals if not is_owned(path)]


def find_owner_lock(path: Path) -> Path:
    """Name the file whose lock the writer of a journal holds."""
    return path.with_suffix(".lock")


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(record, dict):
        return None
    record.pop(CHECKSUM, None)
    return record


def _make_write_error(path: Path, error: Exception) -> StoreError:
    from filelock import Timeout

    is_taken = isinstance(error, Timeout)  # which is an OSError, too
    reason = "another process uses it" if is_taken else getattr(error, "strerror", None) or error
    return StoreError(
        f"{path}: results cannot be written: {reason}",
        hint="Stored results are intact. Fix this and run again; the rest is pending.",
    )


def dump_record(record: dict[str, Any]) -> bytes:
    """Write a record as one line of JSON, without the line's end.

    Text that UTF-8 cannot hold (lone surrogates) is written with backslash escapes, and numbers
    that JSON readers cannot hold (beyond 64 bits) as text.
    """
    try:
        return orjson.dumps(record, default=str)
    except TypeError:
        return orjson.dumps(_make_storable(record), default=str, option=orjson.OPT_NON_STR_KEYS)


CHECKSUM = "crc"
_MARK = b',"crc":"'
_STAMP_LENGTH = len(b',"crc":"00000000"}')


def add_checksum(line: bytes, owner: str = "") -> bytes:
    """Add its checksum to a line of `dump_record` that holds at least one key.

    Args:
        line: A JSON object, without the line's end.
        owner: What the line belongs to though it does not say so, as a row to its LLM.
    """
    body = line[:-1]
    return b'%s,"crc":"%08x"}' % (body, _compute_crc(body, owner))


def is_intact(line: bytes, owner: str = "") -> bool:
    """True if a line is as it was stamped, or was never stamped."""
    if line[-_STAMP_LENGTH:].startswith(_MARK):
        body = line[:-_STAMP_LENGTH]
        return line[-10:-2] == b"%08x" % _compute_crc(body, owner)
    return _MARK not in line[-2 * _STAMP_LENGTH :]


def is_whole(line: bytes) -> bool:
    """True if a line holds its checksum up to the end, maybe with a damaged line's end."""
    ends = (line, line[:-1])
    return any(end[-_STAMP_LENGTH:].startswith(_MARK) for end in ends)


def _compute_crc(body: bytes, owner: str) -> int:
    return zlib.crc32(body, zlib.crc32(owner.encode("utf-8", "replace")))


def _make_storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, dict):
        return {_make_storable(key): _make_storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_storable(item) for item in value]
    return value
