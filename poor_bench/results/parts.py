"""Files of the index: what was read from journals and `results.json`, in columns.

```
index/<columns>/base.json          what results.json consists of
index/<columns>/runs.json          what is known of the files of runs (`sources.py`)
index/<columns>/tests.json         tests of each of them (`results_file.py`)
index/<columns>/*.numbers.parquet  figures and short texts of one part
index/<columns>/*.texts.parquet    its long texts
index/<columns>/*.columns          what was worked out from its texts (`text_columns.py`)
index/<columns>/settled.bin        rows that count (`settled.py`)
index/<columns>/figures.*.json     their figures (`kept_figures.py`)
```

A part covers a stretch of one source: bytes of a journal, or rows of `results.json`. Its name tells
which, and holds a checksum. It is written once and never changed. Everything here may be deleted at
any time; it is made again from the sources.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import orjson

from poor_bench.results.columns import ALL_COLUMNS
from poor_bench.safe_files import open_regular, write_beside

_VERSION = f"{zlib.crc32(repr(ALL_COLUMNS).encode()):08x}"
"""Other columns make another index."""
_NUMBERS, _TEXTS, _COLUMNS = ".numbers.parquet", ".texts.parquet", ".columns"
_UNUSED_AFTER_S = 3600.0
BASE = "results.json"
"""Name of the source that is not a run."""
MOST_SOURCES = 48
"""Runs that `results.json` may consist of before it is read as a whole again."""

Status = tuple[int, int, int]
"""Size, time of change and inode of a file."""


@dataclass(frozen=True, slots=True)
class ParquetPart:
    """One part of the index."""

    path: Path
    """Without the endings of its two files."""
    start: int
    end: int

    @property
    def numbers(self) -> Path:
        """File of the columns that tables hold."""
        return self.path.with_name(self.path.name + _NUMBERS)

    @property
    def texts(self) -> Path:
        """File of the other columns."""
        return self.path.with_name(self.path.name + _TEXTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What is known of one state of `results.json`."""

    status: Status
    sources: tuple[str, ...] = ()
    """Sources whose rows, one after the other, are those of the file; empty if not known."""
    n_parts: int = 0
    """Parts of `BASE` itself; 0 while they are not written."""
    identity: int = 0
    """Identity of `BASE` among the sources."""
    checksum: int | None = None
    """Of the whole file; None if it is not known."""


class PartFolder:
    """The folder of the index; without permission or space to write, it stays as it is."""

    def __init__(self, store_folder: Path) -> None:
        self._all = store_folder / "index"
        self.folder = self._all / _VERSION
        self._listed: dict[str, list[ParquetPart]] | None = None
        self._has_unused = False

    def find_parts(self, source: str, identity: int) -> list[ParquetPart]:
        """Find the parts of a source, one after the other from its start, without gaps."""
        known: dict[int, ParquetPart] = {}
        for part in self._list().get(f"{source}.{identity:08x}", ()):
            if part.start not in known or known[part.start].end < part.end:
                known[part.start] = part
        return list(_chain(known))

    def list_again(self) -> None:
        """Look at the folder when parts are next sought: other processes may have written some."""
        self._listed = None

    def _list(self) -> dict[str, list[ParquetPart]]:
        """List the parts of each state of a source."""
        if self._listed is None:
            self._listed = {}
            for path in self.folder.glob("*" + _NUMBERS) if self.folder.is_dir() else ():
                self._note(path)
        return self._listed

    def _note(self, numbers: Path) -> None:
        part = _part_at(numbers)
        if part is not None and self._listed is not None:
            self._listed.setdefault(part.path.name.rsplit(".", 2)[0], []).append(part)

    def find_part(self, name: str) -> ParquetPart:
        """Find a part by its name, which tells what it covers."""
        start, _, end = name.rsplit(".", 2)[1].partition("-")
        return ParquetPart(self.folder / name, int(start), int(end))

    def has_part(self, name: str) -> bool:
        """True if both files of a part are there."""
        part = self.find_part(name)
        return part.numbers.exists() and part.texts.exists()

    def write(
        self, source: str, identity: int, start: int, end: int, copy: Callable[[Path, Path], None]
    ) -> ParquetPart:
        """Write a part so that it is there as a whole or not at all.

        Args:
            source: Which source it is of.
            identity: Which state of the source.
            start: First place that it covers.
            end: First place behind it.
            copy: Writes numbers and texts to two paths.

        Raises:
            OSError: If it cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f".{os.getpid()}.{time.monotonic_ns()}"
        numbers, texts = draft.with_suffix(".numbers"), draft.with_suffix(".texts")
        try:
            copy(numbers, texts)
            name = f"{source}.{identity:08x}.{start}-{end}.{_crc(numbers):08x}"
            part = ParquetPart(self.folder / name, start, end)
            texts.replace(part.texts)
            numbers.replace(part.numbers)  # last: who finds the numbers finds the texts
            self._note(part.numbers)
        finally:
            for path in (numbers, texts):
                with contextlib.suppress(OSError):
                    path.unlink()
        return part

    def find_base(
        self,
        snapshot: BinaryIO | None,
        last: Base | None,
        find_runs: Callable[[Collection[str]], Collection[str]],
    ) -> Base | None:
        """Find out what `results.json` consists of: itself, unless parts and runs make it up.

        Args:
            snapshot: The file; without it there is nothing to find.
            last: What this process last found.
            find_runs: Finds those of some runs whose files are there.
        """
        if snapshot is None:
            return None
        status = read_status(os.fstat(snapshot.fileno()))
        if last is not None and last.status == status:
            return last
        known = self.base(snapshot)
        if known is not None and self._can_read(known, find_runs):
            return known
        return Base(status=status, sources=(BASE,), identity=compute_identity(status))

    def _can_read(
        self, base: Base, find_runs: Callable[[Collection[str]], Collection[str]]
    ) -> bool:
        has_parts = BASE not in base.sources or (
            0 < base.n_parts == len(self.find_parts(BASE, base.identity))
        )
        runs = {name for name in base.sources if name != BASE}
        return bool(base.sources) and has_parts and len(find_runs(runs)) == len(runs)

    def base(self, snapshot: BinaryIO) -> Base | None:
        """Read what is known of this state of `results.json`, or of a copy; None if nothing is."""
        try:
            stored = orjson.loads((self.folder / "base.json").read_bytes())
            base = Base(
                **{
                    **stored,
                    "status": tuple(stored["status"]),
                    "sources": tuple(map(str, stored["sources"])),
                }
            )
        except (OSError, ValueError, TypeError, KeyError):
            return None
        status = read_status(os.fstat(snapshot.fileno()))
        if base.status == status:
            return base
        if base.status[0] != status[0] or base.checksum != compute_checksum(snapshot):
            return None
        base = replace(base, status=status)
        self.note_base(base, snapshot)
        return base

    def forget_base(self) -> None:
        """Forget what is known of `results.json`, so that it is read again."""
        (self.folder / "base.json").unlink(missing_ok=True)

    def note_base(self, base: Base, snapshot: BinaryIO, *, is_new: bool = False) -> None:
        """Store what is known of `results.json`; without effect where nothing can be written.

        Args:
            base: What is known.
            snapshot: The file.
            is_new: True if its parts were just written: those of an earlier state are not used.
        """
        self._has_unused |= is_new
        content = orjson.dumps(replace(base, checksum=compute_checksum(snapshot)))
        write_beside(self.folder / "base.json", lambda stream: stream.write(content))

    def list_known_sources(self, snapshot: Path) -> Base | None:
        """Find out what `results.json` consists of; None if only reading it would tell.

        Without the file it consists of nothing.
        """
        try:
            with open_regular(snapshot) as stream:
                return self.base(stream)
        except FileNotFoundError:
            return Base(status=(0, 0, 0))

    def note_merged(self, snapshot: Path, before: Base | None, runs: Sequence[str]) -> None:
        """Note that `results.json` consists of what it was before and of some runs.

        So its rows need not be read again. With too many runs they are, once.
        """
        if before is None or len(before.sources) + len(runs) > MOST_SOURCES:
            return
        if before.sources[:1] == (BASE,) and not before.n_parts:
            return
        with open_regular(snapshot) as stream:
            status = read_status(os.fstat(stream.fileno()))
            self.note_base(replace(before, status=status, sources=(*before.sources, *runs)), stream)

    def remove_unused(self, used: Iterable[ParquetPart]) -> None:
        """Remove parts older than an hour that are not used since `results.json` was read anew.

        Args:
            used: Parts of all sources.
        """
        if not self._has_unused:
            return
        self._has_unused = False
        self.list_again()
        kept = {part.path.name for part in used}
        oldest = time.time() - _UNUSED_AFTER_S
        with contextlib.suppress(OSError):
            for path in self._all.iterdir():
                if path.name != _VERSION:
                    shutil.rmtree(path, ignore_errors=True)
            for path in self.folder.iterdir():
                is_part = path.name.endswith((_NUMBERS, _TEXTS, _COLUMNS))
                is_unused = is_part and _part_name(path) not in kept
                is_draft = path.name.startswith(".")
                if (is_unused or is_draft) and path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove everything, so that it is made again."""
        self.list_again()
        shutil.rmtree(self.folder, ignore_errors=True)


def columns_file(texts: Path, name: str) -> Path:
    """Name the file beside the texts of a part for columns of some kind."""
    return texts.with_name(f"{_part_name(texts)}.{name}{_COLUMNS}")


def _part_name(path: Path) -> str:
    """Name the part that a file belongs to: every name has two endings."""
    return path.name.rsplit(".", 2)[0]


class DamagedPartError(Exception):
    """A file of the index is not as it was written."""


def check_part(part: ParquetPart) -> None:
    """Check the figures of a part against the checksum in its name.

    Raises:
        DamagedPartError: If they are not as they were written, or a file is gone.
    """
    with contextlib.suppress(OSError):
        if part.path.name.endswith(f"{_crc(part.numbers):08x}") and part.texts.exists():
            return
    raise DamagedPartError(part.numbers)


def read_status(status: os.stat_result) -> Status:
    """Select what changes whenever a file is written."""
    return status.st_size, status.st_mtime_ns, status.st_ino


def compute_identity(*values: object) -> int:
    """Compute a number that differs for other values."""
    return zlib.crc32(repr(values).encode())


def _part_at(numbers: Path) -> ParquetPart | None:
    """Read what a part covers out of its name; None if it is not the name of one."""
    name = numbers.name.removesuffix(_NUMBERS)
    stretch = name.rsplit(".", 2)[-2] if "." in name else ""
    start, _, end = stretch.partition("-")
    if not (start.isdecimal() and end.isdecimal()):
        return None
    return ParquetPart(numbers.with_name(name), int(start), int(end))


def _chain(known: dict[int, ParquetPart]) -> Iterable[ParquetPart]:
    place = 0
    while place in known:
        yield known[place]
        place = known[place].end


def _crc(path: Path) -> int:
    with path.open("rb") as stream:
        return compute_checksum(stream)


def compute_checksum(stream: BinaryIO, n_bytes: int | None = None) -> int:
    """Compute a checksum of the first bytes of a file, or of all."""
    stream.seek(0)
    checksum, left = 0, os.fstat(stream.fileno()).st_size if n_bytes is None else n_bytes
    while left > 0 and (piece := stream.read(min(left, 1 << 20))):
        checksum, left = zlib.crc32(piece, checksum), left - len(piece)
    return checksum
