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
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from poor_bench.processes import share
from poor_bench.results.columns import StoredColumn, decode_texts, results_from_columns
from poor_bench.results.parts import columns_file, write_beside
from poor_bench.results.table import ALL_TEXTS
from poor_bench.results.text_rows import read_rows
from poor_bench.safe_files import open_regular
from poor_bench.statistics.trials import TextColumns, join_text_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.result import Result
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.trials import TextReader

_CODE = ("extraction", "issues", "models", "scoring", "statistics")
"""Packages that readers are made of."""
_TOLD_EVERY = 100
SHARED_FROM = 50_000
"""So many results are read by several processes, which takes them a second to start."""


def read_text_columns(
    table: ResultTable, reader: TextReader, on_read: Callable[[int], None] = lambda _: None
) -> TextColumns:
    """Work out columns for all rows of a table; what was worked out before is not read again.

    Args:
        table: Results.
        reader: What to work out.
        on_read: Called with the number of rows done so far, now and then.

    Raises:
        StoreError: If the index is damaged.
    """
    [found] = read_several(table, [reader], on_read)
    return found


def read_several(
    table: ResultTable, readers: Sequence[TextReader], on_read: Callable[[int], None]
) -> list[TextColumns]:
    """Work out the columns of several readers, as `read_text_columns` does those of one.

    Of many results, other processes read the texts, once for all readers.
    """
    import numpy as np

    if not len(table):
        return [reader.read(()) for reader in readers]
    groups = [*table.texts.by_file(table.columns["place"])]
    pieces = [_Piece.find(readers, *group) for group in groups]
    entries = np.concatenate([piece.entries for piece in pieces])
    found = [*_Reading(table, tuple(readers), on_read).read(pieces)]
    joined = (join_text_columns(of_reader) for of_reader in zip(*found, strict=True))
    if (entries[1:] > entries[:-1]).all():
        return [*joined]
    order = np.argsort(entries)
    return [columns.pick(order) for columns in joined]


class _Kept(NamedTuple):
    """Columns of some rows of a part."""

    rows: NDArray[np.int64]
    """Their numbers within the source, ascending."""
    found: TextColumns


class _Piece(NamedTuple):
    """Rows whose texts stand together."""

    entries: NDArray[np.int64]
    """Their numbers in the table."""
    rows: NDArray[np.int64]
    """Their numbers within the source."""
    texts: Path | None
    """File of a part; None for rows in memory."""
    kept: list[_Kept | None]
    """What is known of the part, by reader; None once it is no longer needed."""
    is_new: NDArray[np.bool_]
    """Which rows are new, by reader."""

    @classmethod
    def find(
        cls,
        readers: Sequence[TextReader],
        entries: NDArray[np.int64],
        rows: NDArray[np.int64],
        texts: Path | None,
    ) -> _Piece:
        """Find out what is known of some rows."""
        import numpy as np

        kept = [None if texts is None else _load(texts, reader) for reader in readers]
        is_new = [np.isin(rows, () if each is None else each.rows, invert=True) for each in kept]
        return cls(entries, rows, texts, kept, np.array(is_new))

    @property
    def n_new(self) -> int:
        """Rows that some reader has not read."""
        return int(self.is_new.any(axis=0).sum())


_Found = list[TextColumns | None]
"""Columns of the rows that were new to each reader; None where none was."""


class _Reading:
    """Reading of all that is not known yet."""

    def __init__(
        self, table: ResultTable, readers: tuple[TextReader, ...], on_read: Callable[[int], None]
    ) -> None:
        self._table, self._readers, self._on_read = table, readers, on_read
        self._n_done = 0

    def read(self, pieces: Sequence[_Piece]) -> Iterator[list[TextColumns]]:
        """Yield the columns of each piece, by reader, and keep those that are new."""
        for piece, elsewhere in zip(pieces, self._read_elsewhere(pieces), strict=True):
            found = self._read_here(piece) if elsewhere is None else elsewhere
            yield [self._complete(piece, number, fresh) for number, fresh in enumerate(found)]
            self._n_done += len(piece.entries)
            self._on_read(self._n_done)

    def _read_elsewhere(self, pieces: Sequence[_Piece]) -> Iterator[_Found | None]:
        """Let other processes read; None for what is to be read here."""
        far = [piece.texts is not None and piece.n_new > 0 for piece in pieces]
        n_rows = sum(piece.n_new for piece in compress(pieces, far))
        if n_rows < SHARED_FROM or not all(reader.is_shared for reader in self._readers):
            yield from [None] * len(pieces)
            return
        tasks = (self._describe(piece) for piece in compress(pieces, far))
        done: Iterator[_Found | None] = share(_PartReader(self._readers), tasks)
        yield from (next(done) if is_far else None for is_far in far)

    def _describe(self, piece: _Piece) -> _Task:
        assert piece.texts is not None
        is_meant = piece.is_new.any(axis=0)
        fields = _join(self._readers, "fields")
        columns = self._table.select_columns(piece.entries[is_meant], fields)
        return _Task(
            piece.texts,
            piece.rows[is_meant],
            {name: column.shrink() for name, column in columns.items()},
            piece.is_new[:, is_meant],
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

    def _complete(self, piece: _Piece, number: int, fresh: TextColumns | None) -> TextColumns:
        """Put columns beside those that are known."""
        import numpy as np

        kept, piece.kept[number] = piece.kept[number], None
        if fresh is not None:
            new = _Kept(piece.rows[piece.is_new[number]], fresh)
            kept = _merge(new) if kept is None else _merge(kept, new)
            if piece.texts is not None:
                _save(piece.texts, self._readers[number], kept)
        assert kept is not None
        return kept.found.pick(np.searchsorted(kept.rows, piece.rows))


class _Task(NamedTuple):
    """Rows of a part that another process reads."""

    texts: Path
    rows: NDArray[np.int64]
    columns: Mapping[str, StoredColumn]
    is_new: NDArray[np.bool_]
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


def _merge(*pieces: _Kept) -> _Kept:
    import numpy as np

    rows = np.concatenate([piece.rows for piece in pieces])
    order = np.argsort(rows)
    return _Kept(rows[order], join_text_columns([each.found for each in pieces]).pick(order))


def _save(texts: Path, reader: TextReader, kept: _Kept) -> None:
    import numpy as np

    about = orjson.dumps({"version": _name_version(reader), "values": kept.found.values})
    columns = {f"_{name}": _shrink(column) for name, column in kept.found.columns.items()}
    arrays: dict[str, Any] = {"about": np.frombuffer(about, np.uint8), "rows": kept.rows, **columns}
    write_beside(columns_file(texts, reader.name), lambda stream: np.savez(stream, **arrays))


def _name_version(reader: TextReader) -> str:
    return f"{digest_code()} {reader.version}"


def _shrink(column: NDArray[Any]) -> NDArray[Any]:
    """Store small numbers in fewer bytes."""
    import numpy as np

    small = column.astype(np.int32)
    return small if (small == column).all() else column


def _load(texts: Path, reader: TextReader) -> _Kept | None:
    """Read a file; None without one of this version that is as it was written."""
    import numpy as np

    try:
        with (
            open_regular(columns_file(texts, reader.name)) as stream,
            np.load(stream, allow_pickle=False) as stored,
        ):
            about = orjson.loads(stored["about"].tobytes())
            if about["version"] != _name_version(reader):
                return None
            names = [name for name in stored.files if name.startswith("_")]
            columns = {name[1:]: stored[name] for name in names}
            rows = stored["rows"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    # Parts repeat texts: a million results have as many answers.
    values = {name: tuple(map(sys.intern, texts)) for name, texts in about["values"].items()}
    return _Kept(rows, TextColumns(columns=columns, values=values))


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
