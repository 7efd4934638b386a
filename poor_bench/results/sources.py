"""Sources of results: how far a journal or `results.json` has been read, and what is read next."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from poor_bench.models.result import record_to_result
from poor_bench.results.columns import row_line
from poor_bench.results.parts import compute_identity
from poor_bench.results.settled import SettledSource
from poor_bench.runs.journal import is_whole
from poor_bench.safe_files import open_regular

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


def identify_run(stream: BinaryIO) -> int:
    """Identify a journal by its first line and its inode."""
    stream.seek(0)
    return compute_identity(stream.readline(), os.fstat(stream.fileno()).st_ino)


def goes_on_from(stream: BinaryIO | None, settled: SettledSource) -> bool:
    """True if a journal begins with what had been read of it."""
    if stream is None or os.fstat(stream.fileno()).st_size < settled.size:
        return False
    return identify_run(stream) == settled.identity


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
