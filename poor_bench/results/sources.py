"""Sources of results: how far a journal or `results.json` has been read, and what is read next."""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from poor_bench.models.result import record_to_result
from poor_bench.results.columns import row_line
from poor_bench.results.parts import (
    Status,
    compute_checksum,
    compute_identity,
    read_status,
)
from poor_bench.results.settled import SettledSource
from poor_bench.runs.journal import is_whole
from poor_bench.safe_files import open_regular, write_beside

_LOG = logging.getLogger(__name__)
_BATCH_ROWS, _BATCH_BYTES = 20_000, 8_000_000
"""What is read at once, at most, but for a single row: it bounds the memory of reading."""


@dataclass
class Source:
    """How far a source has been read."""

    name: str
    identity: int
    first_place: int
    parts: list[tuple[str, int]] = field(default_factory=list)
    """Name of each part, and the place of its first row."""
    n_rows: int = 0
    """Usable rows so far; the next one has this number."""
    position: int = 0
    """Bytes of a journal, or rows of `results.json`."""
    is_over: bool = False
    """True once everything is read and nothing more can come."""
    n_held: int = 0
    """Latest rows that are in memory and in no part yet."""
    n_held_bytes: int = 0
    held_from: int = 0
    """Position of the first of them."""

    def describe(self) -> SettledSource:
        """Say how far it is in parts; rows that are in memory are read again."""
        return SettledSource(
            name=self.name,
            identity=self.identity,
            first_place=self.first_place,
            n_rows=self.n_rows - self.n_held,
            position=self.held_from if self.n_held else self.position,
            size=self.position,
            parts=tuple(self.parts),
        )

    @property
    def held_place(self) -> int:
        """Place of the first row in memory, or of the next row."""
        return self.first_place + self.n_rows - self.n_held


@dataclass
class Batch:
    """Rows that become columns together."""

    first_row: int
    lines: list[bytes] = field(default_factory=list)
    n_bytes: int = 0

    def add(self, llm_id: str, record: dict[str, Any], path: Path) -> None:
        """Take a record; one that is not usable is logged and left out."""
        try:
            result = record_to_result(llm_id, record)
        except (ValueError, TypeError, KeyError) as error:
            _LOG.warning("%s: a row of %s: %s", path, llm_id, error)
            return
        line = row_line(result, self.first_row + len(self.lines))
        self.lines.append(line)
        self.n_bytes += len(line)

    @property
    def is_full(self) -> bool:
        """True if it is to be turned into columns now."""
        return len(self.lines) >= _BATCH_ROWS or self.n_bytes >= _BATCH_BYTES


def open_files(streams: ExitStack, paths: Mapping[str, Path]) -> dict[str, BinaryIO]:
    """Open those of some files that exist."""
    opened = {}
    for name, path in paths.items():
        with suppress(FileNotFoundError):
            opened[name] = streams.enter_context(open_regular(path))
    return opened


_END_BYTES = 4096
_MOST_CHANGED = 16
"""Changed runs that are kept at once: who is killed while the first index is built loses few."""


@dataclass(slots=True)
class _KnownRun:
    """What is known of the file of a run."""

    identity: int
    status: Status
    """When it was last seen to begin with what had been read."""
    n_bytes: int = 0
    """What had been read."""
    checksum: int = 0
    """Of these bytes."""
    n_end: int = 0
    """How many of the last of them `end_checksum` is of."""
    end_checksum: int = 0


class KnownRuns:
    """Tells whether files of runs begin with what had been read of them before.

    A file with another time or inode is a copy, or another one that took its place: all that had
    been read is compared by its checksum. A file that only grew is compared at the end of it.
    """

    def __init__(self, folder: Path) -> None:
        """Read nothing yet.

        Args:
            folder: Of the index.
        """
        self._path = folder / "runs.json"
        self._changed: set[str] = set()

    @cached_property
    def _runs(self) -> dict[str, _KnownRun]:
        return self._read()

    def _read(self) -> dict[str, _KnownRun]:
        try:
            stored = orjson.loads(self._path.read_bytes())
            return {
                name: _KnownRun(**{**known, "status": tuple(known["status"])})
                for name, known in stored.items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def identify(self, name: str, stream: BinaryIO) -> int:
        """Identify a run: a file that does not begin with what had been read is another one."""
        status, known = read_status(os.fstat(stream.fileno())), self._runs.get(name)
        if known is None or not _begins_with(stream, status, known):
            stream.seek(0)
            known = _KnownRun(compute_identity(stream.readline(), *status), status)
            self._runs[name] = known
        elif status != known.status and not _has_grown(status, known):
            self._changed.add(name)  # so that the next process need not compare all of it
        known.status = status
        return known.identity

    def goes_on_from(self, stream: BinaryIO | None, settled: SettledSource) -> bool:
        """True if a journal begins with what had been read of it."""
        if stream is None or self.identify(settled.name, stream) != settled.identity:
            return False
        return self.has_read(settled.name, settled.size)

    def has_read(self, name: str, end: int) -> bool:
        """True if all up to this byte had been read of a run."""
        return end <= self._runs[name].n_bytes

    def note(self, name: str, piece: bytes, end: int) -> None:
        """Note that a piece was read that ends at this byte; what comes before it had been."""
        known = self._runs[name]
        n_new = end - known.n_bytes
        if n_new > 0:
            known.n_bytes, known.checksum = end, zlib.crc32(piece[-n_new:], known.checksum)
            last = piece[-_END_BYTES:]
            known.n_end, known.end_checksum = len(last), zlib.crc32(last)

    def keep(self, names: Iterable[str], *, at_once: bool) -> None:
        """Keep what is known of some runs; without permission or space, nothing is kept.

        Args:
            names: Runs that something rests on from now on.
            at_once: False if it may wait until more runs are kept.
        """
        self._changed.update(names)
        if len(self._changed) >= (1 if at_once else _MOST_CHANGED):
            runs = self._read()  # other processes may know further ones
            runs |= {name: self._runs[name] for name in self._changed if name in self._runs}
            content = orjson.dumps(runs)
            write_beside(self._path, lambda stream: stream.write(content))
            self._changed.clear()


def _has_grown(status: Status, known: _KnownRun) -> bool:
    return status[2] == known.status[2] and status[0] > known.status[0]


def _begins_with(stream: BinaryIO, status: Status, known: _KnownRun) -> bool:
    if status == known.status:
        return True
    if status[0] < known.n_bytes or not _has_grown(status, known):
        return compute_checksum(stream, known.n_bytes) == known.checksum
    stream.seek(known.n_bytes - known.n_end)
    return zlib.crc32(stream.read(known.n_end)) == known.end_checksum


def read_pieces(stream: BinaryIO, position: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines from a position on, some megabytes at once, each with the place behind it.

    A last line without its end counts if it holds its checksum: then only the end is missing.
    """
    stream.seek(position)
    rest = b""
    while read := stream.read(_BATCH_BYTES):
        content, newline, rest = (rest + read).rpartition(b"\n")
        if newline:
            position += len(content) + 1
            yield content + newline, position
    if rest and is_whole(rest):
        yield rest, position + len(rest)
