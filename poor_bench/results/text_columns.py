"""Columns worked out from texts, kept beside the parts of the index that they come from.

```
index/<columns>/<part>.<name>.columns    zip of NumPy arrays: `about`, JSON; `rows`; columns
```

A file holds the rows of its part that were asked for. It is replaced as a whole where rows are
missing, or where code or facts changed that the columns depend on. It may be deleted at any time.
Rows that have no part yet are read anew by every process.
"""

from __future__ import annotations

import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain, compress, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from poor_bench.comparison.result_set import FACTS, ResultsInColumns
from poor_bench.processes import return_memory, share
from poor_bench.results.columns import StoredColumn, decode_texts, results_from_columns
from poor_bench.results.parts import columns_file
from poor_bench.results.table import ALL_TEXTS, ResultTable, StoredRows
from poor_bench.results.text_rows import read_rows
from poor_bench.safe_files import open_regular, write_beside
from poor_bench.statistics.trials import JoinedColumns, TextColumns, shrink

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.result import Result
    from poor_bench.statistics.trials import TextReader

_CODE = ("comparison", "extraction", "issues", "models", "scoring", "statistics")
"""Packages that readers are made of."""
_TOLD_EVERY = 100
SHARED_FROM = 50_000
"""So many results are read by several processes, which takes them a second to start."""


def read_text_columns(
    table: ResultTable,
    reader: TextReader,
    on_read: Callable[[int], None] = lambda _: None,
    *,
    also: Sequence[TextReader] = (),
) -> TextColumns:
    """Work out columns for all rows of a table; what was worked out before is not read again.

    Of many results, other processes read the texts.

    Args:
        table: Results.
        reader: What to work out.
        on_read: Called with the number of rows done so far, now and then.
        also: Readers of what is needed later: where many texts are read, their columns are kept
            beside the parts, so that the texts are read once for all.

    Raises:
        StoreError: If the index is damaged.
    """
    if not len(table):
        return reader.read(())
    found = _Reading(table, (reader, *also), on_read).read()
    if len(table) >= SHARED_FROM:
        return_memory()  # what lay between the columns of the parts is large by then
    return found


class ComparedRows(StoredRows, ResultsInColumns):
    """Some results of a table."""

    def __init__(self, table: ResultTable, rows: NDArray[np.int64]) -> None:
        super().__init__(table.pick_rows(rows))

    @property
    def trials(self) -> ResultTable:
        """See `ResultsInColumns`."""
        return self._table

    @cached_property
    def facts(self) -> TextColumns:
        """See `ResultsInColumns`."""
        return read_text_columns(self._table, FACTS)


def are_few(n_read: int, n_results: int) -> bool:
    """True if reading the texts of some results takes less time than what is kept of all."""
    return n_read * 10 <= n_results


class _Kept(NamedTuple):
    """Columns of some rows of a part."""

    rows: NDArray[np.int64]
    """Their numbers within the source, ascending."""
    found: TextColumns

    def pick(self, rows: NDArray[np.int64]) -> TextColumns:
        """Select rows, all of which are among them; as a rule nothing is copied."""
        import numpy as np

        if np.array_equal(self.rows, rows):
            return self.found
        return self.found.pick(np.searchsorted(self.rows, rows))


class _Piece(NamedTuple):
    """Rows whose texts stand together, some of which are new."""

    entries: NDArray[np.int64]
    """Their numbers in the table."""
    rows: NDArray[np.int64]
    """Their numbers within the source."""
    texts: Path | None
    """File of a part; None for rows in memory."""
    is_new: list[NDArray[np.bool_]]
    """Which rows are new, by reader."""

    def look_up(self, readers: Sequence[TextReader]) -> _Piece:
        """Find out what is new to more readers; of rows in memory, nothing can be kept."""
        import numpy as np

        is_new = [
            np.zeros(len(self.rows), np.bool_)
            if self.texts is None
            else _is_missing(self.rows, _load(self.texts, reader))
            for reader in readers
        ]
        return self._replace(is_new=[*self.is_new, *is_new])

    @property
    def n_new(self) -> int:
        """Rows that some reader has not read."""
        return int(self.find_new().sum())

    def find_new(self) -> NDArray[np.bool_]:
        """Find out which rows are new to some reader."""
        import numpy as np

        is_new: NDArray[np.bool_] = np.logical_or.reduce(self.is_new)
        return is_new


def _is_missing(rows: NDArray[np.int64], kept: _Kept | None) -> NDArray[np.bool_]:
    import numpy as np

    if kept is not None and np.array_equal(rows, kept.rows):  # as a rule
        return np.zeros(len(rows), np.bool_)
    return np.isin(rows, () if kept is None else kept.rows, invert=True)


_Found = list[TextColumns | None]
"""Columns of the rows that were new to each reader; None where none was."""


class _Reading:
    """Reading of all that is not known yet; only the columns of the first reader are collected."""

    def __init__(
        self, table: ResultTable, readers: tuple[TextReader, ...], on_read: Callable[[int], None]
    ) -> None:
        self._table, self._readers, self._on_read = table, readers, on_read
        self._n_done = 0
        self._joined = JoinedColumns(len(table))

    def read(self) -> TextColumns:
        """Take what is kept, then read the rest and keep it."""
        groups = self._table.texts.by_file(self._table.columns["place"])
        new = [piece for piece in starmap(self._take_kept, groups) if piece is not None]
        if are_few(sum(piece.n_new for piece in new), len(self._table)):
            self._readers = self._readers[:1]
        new = [piece.look_up(self._readers[1:]) for piece in new]
        for piece, elsewhere in zip(new, self._read_elsewhere(new), strict=True):
            found = self._read_here(piece) if elsewhere is None else elsewhere
            for number, fresh in enumerate(found[1:], 1):
                if fresh is not None:
                    self._complete(piece, number, fresh)
            self._collect(piece.entries, self._complete(piece, 0, found[0]).pick(piece.rows))
        return self._joined.columns()

    def _take_kept(
        self, entries: NDArray[np.int64], rows: NDArray[np.int64], texts: Path | None
    ) -> _Piece | None:
        """Collect rows that are known; of others, tell which are new."""
        kept = None if texts is None else _load(texts, self._readers[0])
        is_new = _is_missing(rows, kept)
        if kept is None or is_new.any():
            return _Piece(entries, rows, texts, [is_new])
        self._collect(entries, kept.pick(rows))
        return None

    def _collect(self, entries: NDArray[np.int64], found: TextColumns) -> None:
        self._joined.put(entries, found)
        self._n_done += len(entries)
        if self._n_done // SHARED_FROM > (self._n_done - len(entries)) // SHARED_FROM:
            self._table.release()
        self._on_read(self._n_done)

    def _read_elsewhere(self, pieces: Sequence[_Piece]) -> Iterator[_Found | None]:
        """Let other processes read; None for what is to be read here."""
        far = [piece.texts is not None for piece in pieces]
        n_rows = sum(piece.n_new for piece in compress(pieces, far))
        if n_rows < SHARED_FROM or not all(reader.is_shared for reader in self._readers):
            yield from [None] * len(pieces)
            return
        tasks = (self._describe(piece) for piece in compress(pieces, far))
        done: Iterator[_Found | None] = share(_PartReader(self._readers), tasks)
        yield from (next(done) if is_far else None for is_far in far)

    def _describe(self, piece: _Piece) -> _Task:
        assert piece.texts is not None
        is_meant = piece.find_new()
        fields = _join(self._readers, "fields")
        columns = self._table.select_columns(piece.entries[is_meant], fields)
        return _Task(
            piece.texts,
            piece.rows[is_meant],
            {name: column.shrink() for name, column in columns.items()},
            [is_new[is_meant] for is_new in piece.is_new],
        )

    def _read_here(self, piece: _Piece) -> _Found:
        return [
            reader.read(self._fetch(reader, piece.entries[is_new])) if is_new.any() else None
            for reader, is_new in zip(self._readers, piece.is_new, strict=True)
        ]

    def _fetch(self, reader: TextReader, entries: NDArray[np.int64]) -> Iterator[Result]:
        every = self._table.whole(entries, reader.texts, reader.fields)
        for number, result in enumerate(every, 1):
            yield result
            if number % _TOLD_EVERY == 0:
                self._on_read(self._n_done + number)

    def _complete(self, piece: _Piece, number: int, fresh: TextColumns | None) -> _Kept:
        """Put columns beside those that are kept by now."""
        import numpy as np

        reader, is_new = self._readers[number], piece.is_new[number]
        kept = None if piece.texts is None else _load(piece.texts, reader)
        known = [] if kept is None else [kept]
        if fresh is not None:
            known.append(_Kept(piece.rows[is_new], fresh))
        is_lost = ~np.isin(piece.rows, np.concatenate([piece.rows[:0], *(x.rows for x in known)]))
        if is_lost.any():  # another process has replaced the file since
            again = reader.read(self._fetch(reader, piece.entries[is_lost]))
            known.append(_Kept(piece.rows[is_lost], again))
        if kept is not None and len(known) == 1:
            return kept
        merged = _merge(known)
        if piece.texts is not None:
            _save(piece.texts, reader, merged)
        return merged


class _Task(NamedTuple):
    """Rows of a part that another process reads."""

    texts: Path
    rows: NDArray[np.int64]
    columns: Mapping[str, StoredColumn]
    is_new: Sequence[NDArray[np.bool_]]
    """Which of them each reader has not read."""


@dataclass(frozen=True, slots=True)
class _PartReader:
    """Reads rows of a part without the index."""

    readers: tuple[TextReader, ...]

    def __call__(self, task: _Task) -> _Found | None:
        """Read them; None where the file is damaged, which the index tells and mends."""
        import duckdb

        names = _join(self.readers, "texts")
        try:
            texts = read_rows(task.texts, task.rows, ALL_TEXTS if names is None else names)
        except (duckdb.Error, KeyError):
            return None
        columns = {name: column.decode(name) for name, column in task.columns.items()}
        columns |= {name: decode_texts(name, values) for name, values in texts.items()}
        results = [*results_from_columns(columns)]
        return [
            reader.read(compress(results, is_new.tolist())) if is_new.any() else None
            for reader, is_new in zip(self.readers, task.is_new, strict=True)
        ]


def _join(readers: Sequence[TextReader], what: str) -> tuple[str, ...] | None:
    """List what any reader needs; None for everything."""
    needed = [getattr(reader, what) for reader in readers]
    return None if None in needed else tuple(dict.fromkeys(chain.from_iterable(needed)))


def _merge(pieces: Sequence[_Kept]) -> _Kept:
    import numpy as np

    rows = np.unique(np.concatenate([piece.rows for piece in pieces]))
    joined = JoinedColumns(len(rows))
    for piece in pieces:
        joined.put(np.searchsorted(rows, piece.rows), piece.found)
    return _Kept(rows, joined.columns())


_SAVING = threading.Lock()


def _save(texts: Path, reader: TextReader, kept: _Kept) -> None:
    """Write a file with some rows, and those that others have put there meanwhile."""
    with _SAVING:
        standing = _load(texts, reader)
        if standing is not None and (is_more := _is_missing(standing.rows, kept)).any():
            kept = _merge([kept, _Kept(standing.rows[is_more], standing.found.pick(is_more))])
        _write(texts, reader, kept)


def _write(texts: Path, reader: TextReader, kept: _Kept) -> None:
    import numpy as np

    about = orjson.dumps({"version": _name_version(reader), "values": kept.found.values})
    columns = {f"_{name}": shrink(column) for name, column in kept.found.columns.items()}
    arrays: dict[str, Any] = {"about": np.frombuffer(about, np.uint8), "rows": kept.rows, **columns}
    write_beside(columns_file(texts, reader.name), lambda stream: np.savez(stream, **arrays))


def _name_version(reader: TextReader) -> str:
    return f"{digest_code()} {reader.version}"


_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile)


def is_kept(texts: Path, reader: TextReader) -> bool:
    """True if what a reader found in rows of a part is kept, and nothing it depends on changed."""
    import numpy as np

    try:
        with (
            open_regular(columns_file(texts, reader.name)) as stream,
            np.load(stream, allow_pickle=False) as stored,
        ):
            return _read_about(stored, reader) is not None
    except _UNREADABLE:
        return False


def _load(texts: Path, reader: TextReader) -> _Kept | None:
    """Read a file; None without one of this version that is as it was written."""
    import numpy as np

    try:
        with (
            open_regular(columns_file(texts, reader.name)) as stream,
            np.load(stream, allow_pickle=False) as stored,
        ):
            about = _read_about(stored, reader)
            if about is None:
                return None
            names = [name for name in stored.files if name.startswith("_")]
            columns = {name[1:]: stored[name] for name in names}
            rows = stored["rows"]
    except _UNREADABLE:
        return None
    # Parts repeat texts: a million results have as many answers.
    values = {name: tuple(map(sys.intern, texts)) for name, texts in about["values"].items()}
    return _Kept(rows, TextColumns(columns=columns, values=values))


def _read_about(stored: Mapping[str, NDArray[Any]], reader: TextReader) -> dict[str, Any] | None:
    """Read what says how columns are to be read; None if they are of another version."""
    about: dict[str, Any] = orjson.loads(stored["about"].tobytes())
    return about if about["version"] == _name_version(reader) else None


@cache
def digest_code() -> str:
    """Compute what changes with the code of every reader."""
    package = Path(__file__).parents[1]
    digest = blake2b(digest_size=16)
    for name in _CODE:
        folder = package / name
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
            digest.update(path.read_bytes())
    return digest.hexdigest()
