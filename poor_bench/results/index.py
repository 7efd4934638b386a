"""The index of a store: all results in columns, read once and followed from there on.

Journals and `results.json` are the truth. What has no part yet (`parts.py`) is read from them, and
enough of it becomes a part; the figures of the rows that count are held in memory (`database.py`).
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from poor_bench.errors import StoreError
from poor_bench.results.connections import is_of_database
from poor_bench.results.database import Database
from poor_bench.results.parts import (
    BASE,
    Base,
    DamagedPartError,
    ParquetPart,
    PartFolder,
    check_part,
)
from poor_bench.results.paths import StorePaths
from poor_bench.results.settled import (
    SettledBasis,
    SettledSource,
    count_room,
    name_basis,
    read_settled,
    write_settled,
)
from poor_bench.results.snapshot import read_snapshot
from poor_bench.results.sources import Batch, KnownRuns, Source, open_files, read_pieces
from poor_bench.results.table import ResultTable
from poor_bench.runs.journal import read_journal
from poor_bench.safe_files import tell_os_errors

_LOG = logging.getLogger(__name__)
_VERSIONS = itertools.count(1)
_MOST_UNSETTLED = 1_000_000
"""Rows that a first reading settles in memory, at most, before they go to their file."""
_PART_ROWS, _PART_BYTES = 1_000, 8_000_000
"""Size of one source from which on it becomes a part; less is read anew by every process."""


class ResultIndex:
    """Tables of one store; may be used from several threads."""

    def __init__(
        self, paths: StorePaths, resolve: Callable[[str], str], *, keeps_settled: bool = True
    ) -> None:
        """Read nothing yet.

        Args:
            paths: The store.
            resolve: Maps an LLM id of a file to the one in use.
            keeps_settled: False for a part of a store: its file of settled rows is of the whole.
        """
        self._paths, self._keeps_settled = paths, keeps_settled
        self._resolve = resolve
        self._parts = PartFolder(paths.snapshot.parent)
        self._lock = threading.Lock()
        self._seen: object = None
        self._error: StoreError | None = None
        self._forget()

    def table(self) -> ResultTable:
        """Read the results as they are in the files now.

        Raises:
            StoreError: If the results cannot be read.
        """
        with self._lock, tell_os_errors(self._paths.snapshot):
            seen = self._paths.fingerprint()
            if self._table is None or seen != self._seen:
                if self._error is not None and seen == self._seen:
                    raise self._error.with_traceback(None)
                self._seen = seen
                self._read()
            assert self._table is not None
            return self._table

    def _read(self) -> None:
        self._error = None
        try:
            try:
                self._take_all()
            except Exception as error:
                if not (isinstance(error, DamagedPartError) or is_of_database(error)):
                    raise
                _LOG.warning("the index of %s is built again: %s", self._paths.snapshot, error)
                self._parts.clear()
                self._forget()
                self._take_all()
        except BaseException as error:
            self._forget()
            self._error = error if isinstance(error, StoreError) else None
            raise

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        with self._lock:
            self._forget()
            self._error = None

    def _forget(self) -> None:
        self._table: ResultTable | None = None
        self._database: Database | None = None
        self._sources: dict[str, Source] = {}
        self._base: Base | None = None
        self._used: list[ParquetPart] = []
        self._runs = KnownRuns(self._parts.folder)
        self._llm_versions: dict[str, int] = {}
        self._n_settled = 0
        """Rows of the file of settled rows, as it is or was to be written."""
        self._n_in_settled_parts = 0
        """Rows of the parts that they were worked out from."""
        self._basis: SettledBasis | None = None

    # ---- sources -----------------------------------------------------------------------------

    def _take_all(self) -> None:
        """Take what is new; columns of the file of settled rows take no memory of this process."""
        if self._take_sources(may_stop=True):
            self._forget()
            while self._take_sources(may_stop=False):
                self._forget()

    def _take_sources(self, *, may_stop: bool) -> bool:
        """Take what is new; where more happened than appending, read everything again.

        Where it returns True, rows were kept, and reading is to go on from there. With `may_stop`
        False that is so only if rows that were kept before could be used.
        """
        self._parts.list_again()
        with ExitStack() as streams:
            # Journals first: a run that enters results.json meanwhile is then seen twice, which is
            # harmless, and never not at all.
            runs = open_files(streams, {path.stem: path for path in self._paths.list_unmerged()})
            snapshot = open_files(streams, {BASE: self._paths.snapshot}).get(BASE)
            base = self._parts.find_base(snapshot, self._base, self._paths.find_runs)
            order = list(dict.fromkeys((*(base.sources if base else ()), *runs)))
            if self._database is None or not self._goes_on(base, order, runs):
                self._forget()
                self._restore(base, order, streams, runs)
            self._base = base
            for name in order:
                if name != BASE:
                    self._take_run(name, streams, runs)
                elif snapshot is not None and BASE not in self._sources:
                    self._take_base(snapshot)
                is_much = self._table is None and self._count_new() >= _MOST_UNSETTLED
                if is_much and (may_stop or self._basis) and self._keep_settled():
                    return True
        self._runs.keep((), at_once=True)
        self._parts.remove_unused(self._used)
        return self._settle() and may_stop

    def _restore(
        self,
        base: Base | None,
        order: Sequence[str],
        streams: ExitStack,
        runs: Mapping[str, BinaryIO],
    ) -> None:
        """Start with the rows that were settled before, if their sources are as they were."""
        sizes = [os.fstat(stream.fileno()).st_size for stream in runs.values()]
        n_bytes = sum(sizes, base.status[0] if base else 0)
        self._database = Database(self._resolve, self._start_again, n_bytes)
        settled = read_settled(self._parts.folder)
        if settled is None or not settled.sources:
            return
        names = [source.name for source in settled.sources]
        if names != list(order[: len(names)]):
            return
        sealed = self._paths.find_runs(name for name in names if name not in runs)
        opened = {**open_files(streams, sealed), **runs}
        is_same = all(
            base is not None and source.identity == base.identity
            if source.name == BASE
            else self._runs.goes_on_from(opened.get(source.name), source)
            for source in settled.sources
        )
        places = [place for source in settled.sources for place in source.parts]
        if not is_same or not all(self._parts.has_part(name) for name, _ in places):
            return
        if not self._database.restore(settled):
            return
        self._basis = name_basis(self._parts.folder, settled, self._resolve)
        self._n_settled = settled.n_rows
        self._n_in_settled_parts = sum(source.n_rows for source in settled.sources)
        for source in settled.sources:
            self._restore_source(source)

    def _restore_source(self, settled: SettledSource) -> None:
        assert self._database is not None
        source = self._sources[settled.name] = Source(
            settled.name, settled.identity, settled.first_place, list(settled.parts),
            n_rows=settled.n_rows, position=settled.position, is_over=settled.name == BASE,
        )  # fmt: skip
        for name, place in source.parts:
            part = self._parts.find_part(name)
            self._database.texts.read_from(place, part.texts)
            self._used.append(part)

    def _goes_on(
        self, base: Base | None, order: Sequence[str], runs: Mapping[str, BinaryIO]
    ) -> bool:
        """True if what has been read is the beginning of what is there now."""
        known = self._sources.get(BASE)
        is_same_base = known is None or (base is not None and base.identity == known.identity)
        are_same_runs = all(
            self._runs.goes_on_from(stream, self._sources[name].describe())
            for name, stream in runs.items()
            if name in self._sources
        )
        is_begun = list(order[: len(self._sources)]) == [*self._sources]
        return is_same_base and are_same_runs and is_begun

    def _take_base(self, snapshot: BinaryIO) -> None:
        assert self._base is not None
        assert self._database is not None
        first_place = self._database.new_source()
        source = Source(BASE, self._base.identity, first_place, is_over=True)
        self._sources[BASE] = source
        if self._base.n_parts:
            self._take_parts(source)
            return
        n_before = len(self._used)
        n_rows, batch = 0, Batch(0)
        for n_rows, row in enumerate(read_snapshot(snapshot, self._paths.snapshot), start=1):
            batch.add(row.llm_id, row.record, self._paths.snapshot)
            if batch.is_full:
                self._take_batch(source, batch, n_rows)
                source.position, batch = n_rows, Batch(source.n_rows)
        self._take_batch(source, batch, n_rows)
        source.position = n_rows
        if source.n_held and len(self._used) > n_before:
            self._move_out(source, source.position)
        if not source.n_held and len(self._used) > n_before:
            self._base = replace(self._base, n_parts=len(self._used) - n_before)
            self._parts.note_base(self._base, snapshot, is_new=True)

    def _take_run(self, name: str, streams: ExitStack, runs: Mapping[str, BinaryIO]) -> None:
        source = self._sources.get(name)
        if source is not None and source.is_over:
            return
        stream, path = runs.get(name), self._paths.run_file(name)
        if stream is None and path is not None:
            stream = open_files(streams, {name: path}).get(name)
        if stream is None:
            raise StoreError(f"{self._paths.runs_dir}: the run {name} has just been removed")
        if source is None:
            assert self._database is not None
            first_place = self._database.new_source()
            identity = self._runs.identify(name, stream)
            source = self._sources[name] = Source(name, identity, first_place)
            self._take_parts(source)
        n_parts = len(source.parts)
        for content, end in read_pieces(stream, source.position):
            batch, damaged = Batch(source.n_rows), list[int]()
            for line in read_journal(BytesIO(content), damaged.append):
                batch.add(str(line.record.pop("llm_id", "")), line.record, path or Path(name))
            after = f" after byte {source.position}" if source.position else ""
            for number in damaged:
                _LOG.warning("%s:%d%s is not readable and was skipped", path, number, after)
            self._take_batch(source, batch, end)
            self._runs.note(name, content, end)
            source.position = end
        self._runs.keep([name] if len(source.parts) > n_parts else (), at_once=False)
        source.is_over = name not in runs

    # ---- parts -------------------------------------------------------------------------------

    def _take_parts(self, source: Source) -> None:
        """Take what this or another process has read of a source before."""
        assert self._database is not None
        for part in self._parts.find_parts(source.name, source.identity):
            if source.name != BASE and not self._runs.has_read(source.name, part.end):
                break
            check_part(part)
            source.parts.append((part.path.name, source.held_place))
            self._database.texts.read_from(source.held_place, part.texts)
            source.n_rows += self._database.count_part(source.first_place, part.numbers)
            self._used.append(part)
            source.position = part.end

    def _take_batch(self, source: Source, batch: Batch, end: int) -> None:
        """Turn rows into columns: into a part if they are many, else in memory."""
        if not batch.lines:
            return
        assert self._database is not None
        database = self._database
        database.read_lines(batch.lines)
        if not source.n_held:
            source.held_from = source.position
        n_new, place = len(batch.lines), source.held_place
        is_large = not source.n_held and _fills_a_part(n_new, batch.n_bytes)
        if not (is_large and self._write_part(source, end, database.copy_batch)):
            database.hold_batch(place)
            source.n_held += n_new
            source.n_held_bytes += batch.n_bytes
        source.n_rows += database.count_batch(source.first_place)
        if not is_large and _fills_a_part(source.n_held, source.n_held_bytes):
            self._move_out(source, end)

    def _move_out(self, source: Source, end: int) -> bool:
        """Make a part of the rows of a source that are in memory; return whether that worked."""
        assert self._database is not None
        place = source.held_place
        if not self._write_part(source, end, partial(self._database.copy_held, place)):
            return False
        self._database.release(place)
        source.n_held = source.n_held_bytes = 0
        return True

    def _write_part(self, source: Source, end: int, copy: Callable[[Path, Path], None]) -> bool:
        """Write a part of the chunk of a source; without permission or space, return False."""
        import duckdb

        assert self._database is not None
        try:
            part = self._parts.write(source.name, source.identity, source.held_from, end, copy)
        except (OSError, duckdb.Error) as error:
            _LOG.debug("%s: no part was written: %s", self._parts.folder, error)
            return False
        source.parts.append((part.path.name, source.held_place))
        self._database.texts.read_from(source.held_place, part.texts)
        self._used.append(part)
        return True

    # ---- tables ------------------------------------------------------------------------------

    def _settle(self) -> bool:
        """Build a table of the rows that count now; return whether their file was written."""
        assert self._database is not None
        changed = self._database.settle()
        if not changed and self._table is not None:
            return False
        columns, values, latest = self._database.newest()
        new = {*changed, *(set(values["llm_id"]) - self._llm_versions.keys())}
        self._llm_versions |= {llm_id: next(_VERSIONS) for llm_id in new}
        sources = (source.describe() for source in self._sources.values())
        self._basis = self._basis and self._basis.change(
            sources, columns, values["llm_id"], changed
        )
        self._table = ResultTable(
            version=next(_VERSIONS),
            llm_versions=dict(self._llm_versions),
            latest=latest,
            columns=columns,
            values=values,
            texts=self._database.texts,
            basis=self._basis,
        )
        return self._keep_settled()

    def _keep_settled(self) -> bool:
        """Write the rows that count to their file, if many are new; return whether it was written.

        Rows outside of parts are read again by every process: the file spares no work for them.
        """
        assert self._database is not None
        n_new = self._count_new()
        is_whole = BASE not in self._sources or not self._sources[BASE].n_held
        is_whole &= self._keeps_settled
        if not (is_whole and n_new >= count_room(self._n_settled)):
            return False
        self._runs.keep((name for name in self._sources if name != BASE), at_once=True)
        rows = self._database.keep_settled(each.describe() for each in self._sources.values())
        is_written = write_settled(self._parts.folder, rows)
        # Where it cannot be written, it is not tried again with every new result.
        self._n_settled, self._n_in_settled_parts = rows.n_rows, self._n_in_settled_parts + n_new
        return is_written

    def _count_new(self) -> int:
        """Count the rows of parts that are not in the file of settled rows."""
        in_parts = (source.n_rows - source.n_held for source in self._sources.values())
        return sum(in_parts) - self._n_in_settled_parts

    def _start_again(self, database: Database) -> None:
        """Remove an index that turned out to be damaged; it is built again when next needed."""
        with self._lock:
            if database is self._database:
                self._parts.clear()
                self._forget()


def _fills_a_part(n_rows: int, n_bytes: int) -> bool:
    return n_rows >= _PART_ROWS or n_bytes >= _PART_BYTES
