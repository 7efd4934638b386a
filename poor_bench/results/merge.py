"""Snapshot and journals as one: the newest row of every trial wins.

A trial has at most one row in each section: its newest score in `results`, and in `failures` its
newest failure, unless it was scored after that.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import orjson

from poor_bench.results.paths import StorePaths
from poor_bench.results.snapshot import SECTIONS, SnapshotRow, read_extras, read_snapshot
from poor_bench.runs.journal import dump_record, read_journal, read_record_at
from poor_bench.safe_files import open_regular

Key = tuple[str, str, int]


class RowPlace(NamedTuple):
    """Where in the opened journals a row stands."""

    stream: BinaryIO
    offset: int
    llm_id: str


class _Newer:
    """The journals' rows of one section, handed out once each."""

    def __init__(self, places: dict[Key, RowPlace]) -> None:
        self._places = dict(places)
        self._by_llm: dict[str, list[Key]] = {}
        for key, place in places.items():
            self._by_llm.setdefault(place.llm_id, []).append(key)

    def take(self, key: Key) -> RowPlace | None:
        return self._places.pop(key, None)

    def take_rest(self, llm_id: str) -> Iterator[RowPlace]:
        for key in self._by_llm.pop(llm_id, ()):
            place = self._places.pop(key, None)
            if place is not None:
                yield place

    def rest(self) -> Iterator[RowPlace]:
        for llm_id in list(self._by_llm):
            yield from self.take_rest(llm_id)


class MergedView:
    """One consistent view of a store, held open by its streams.

    Journals are opened before the snapshot: a journal that is merged meanwhile is then seen twice,
    which is harmless, and never not at all.
    """

    def __init__(
        self,
        paths: StorePaths,
        resolve: Callable[[str], str],
        report_damage: Callable[[Path, int], None],
    ) -> None:
        """Open nothing yet.

        Args:
            paths: The store.
            resolve: Maps an LLM id of a file to the one in use.
            report_damage: Called with file and line number of each unreadable journal line.
        """
        self._paths = paths
        self._resolve = resolve
        self._report_damage = report_damage
        self._streams = ExitStack()
        self._snapshot: BinaryIO | None = None
        self._scored: dict[Key, RowPlace] = {}
        self._failed: dict[Key, RowPlace] = {}

    def __enter__(self) -> MergedView:
        try:
            for path in self._paths.list_unmerged():
                stream = self._open(path)
                if stream is not None:
                    self._index(path, stream)
            self._snapshot = self._open(self._paths.snapshot)
        except OSError:
            self._streams.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._streams.close()

    def extras(self) -> dict[str, Any]:
        """Read the snapshot's top-level keys that are not ours."""
        if self._snapshot is None:
            return {}
        self._snapshot.seek(0)
        return read_extras(self._snapshot, self._paths.snapshot)

    def rows(self) -> Iterator[SnapshotRow]:
        """Yield every valid row once: results first, then failures, grouped by LLM.

        A row of the snapshot is replaced in its place by its newest version; new rows of an LLM
        follow its old ones.
        """
        if not self._scored and not self._failed:
            yield from self._old_rows()
            return
        places = {"results": self._scored, "failures": self._failed}
        newer = {name: _Newer(found) for name, found in places.items()}
        section, llm_id = SECTIONS[0], ""
        for row in self._old_rows():
            if (row.section, row.llm_id) != (section, llm_id):
                yield from _new_rows(section, newer[section].take_rest(llm_id))
                if row.section != section:
                    yield from _new_rows(section, newer[section].rest())
                section, llm_id = row.section, row.llm_id
            key = self._key(row.llm_id, row.record)
            place = newer[section].take(key)
            if place is not None:
                yield SnapshotRow(section, llm_id, _record_at(place))
            elif key not in self._scored and key not in places[section]:
                yield row  # else its newer row has been handed out, maybe under another LLM id
        yield from _new_rows(section, newer[section].take_rest(llm_id))
        for name in SECTIONS:
            yield from _new_rows(name, newer[name].rest())

    def _old_rows(self) -> Iterator[SnapshotRow]:
        if self._snapshot is not None:
            self._snapshot.seek(0)
            yield from read_snapshot(self._snapshot, self._paths.snapshot)

    def _index(self, path: Path, stream: BinaryIO) -> None:
        for offset, record in read_journal(stream, partial(self._report_damage, path)):
            llm_id = str(record.get("llm_id", ""))
            key = self._key(llm_id, record)
            place = RowPlace(stream, offset, llm_id)
            if "failure" in record:
                self._failed[key] = place
            else:
                self._scored[key] = place
                self._failed.pop(key, None)

    def _key(self, llm_id: str, record: dict[str, Any]) -> Key:
        trial = record.get("trial")
        number = trial if isinstance(trial, int) else 1
        return self._resolve(llm_id), str(record.get("test_id")), number

    def _open(self, path: Path) -> BinaryIO | None:
        try:
            return self._streams.enter_context(open_regular(path))
        except FileNotFoundError:
            return None


def _new_rows(section: str, places: Iterator[RowPlace]) -> Iterator[SnapshotRow]:
    for place in places:
        yield SnapshotRow(section, place.llm_id, _record_at(place))


def sort_rows(rows: Iterable[SnapshotRow], folder: Path) -> Iterator[SnapshotRow]:
    """Sort rows by section, LLM, test and trial; memory does not grow with them.

    Args:
        rows: At most one of each trial in each section.
        folder: Where pieces are kept meanwhile.
    """

    def describe(row: SnapshotRow) -> bytes:
        trial = row.record.get("trial")
        number = trial if isinstance(trial, int) and trial > 0 else 1
        place = (
            b"%d" % SECTIONS.index(row.section),
            dump_record({"": row.llm_id}),
            dump_record({"": str(row.record.get("test_id"))}),
            b"%020d" % number,
        )
        return b"\0".join((*place, dump_record(row.record)))

    for line in sort_lines(map(describe, rows), folder):
        section, llm, _, _, record = line.split(b"\0")
        yield SnapshotRow(SECTIONS[int(section)], orjson.loads(llm)[""], orjson.loads(record))


def _record_at(place: RowPlace) -> dict[str, Any]:
    record = read_record_at(place.stream, place.offset)
    record.pop("llm_id", None)
    return record


MOST_BYTES = 32_000_000
"""What is held in memory at once; more is sorted in pieces on the disk."""


def sort_lines(
    lines: Iterable[bytes], folder: Path, *, most_bytes: int = MOST_BYTES
) -> Iterator[bytes]:
    """Yield lines in the order of their bytes.

    Args:
        lines: None of them holds a line break.
        folder: Where pieces are kept meanwhile; they vanish with the process.
        most_bytes: What is held in memory at once.

    Raises:
        OSError: If the disk is full.
    """
    with ExitStack() as streams:
        pieces: list[IO[bytes]] = []
        held, n_bytes = list[bytes](), 0
        for line in lines:
            held.append(line)
            n_bytes += len(line)
            if n_bytes >= most_bytes:
                piece = streams.enter_context(tempfile.TemporaryFile(dir=folder))
                _write_piece(piece, held)
                pieces.append(piece)
                held, n_bytes = [], 0
        held.sort()
        yield from heapq.merge(*map(_read_piece, pieces), held) if pieces else held


def _write_piece(piece: IO[bytes], lines: list[bytes]) -> None:
    lines.sort()
    piece.writelines(b"%s\n" % line for line in lines)
    piece.seek(0)


def _read_piece(piece: IO[bytes]) -> Iterator[bytes]:
    return (line[:-1] for line in piece)
