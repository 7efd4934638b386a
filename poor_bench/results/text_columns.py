"""Columns worked out from texts, kept beside the parts of the index that they come from.

```
index/<columns>/<part>.<name>.columns    zip of NumPy arrays: `about`, JSON; `rows`; columns
```

A file holds the rows of its part that were asked for. It is replaced as a whole where rows are
missing, or where code or facts changed that the columns depend on. It may be deleted at any time.
Rows that have no part yet are read anew by every process.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from poor_bench.results.parts import columns_file, write_beside
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
    import numpy as np

    order: list[NDArray[np.int64]] = []

    def read() -> Iterator[TextColumns]:
        n_done = 0
        for entries, rows, texts in table.texts.by_file(table.columns["place"]):
            work = _Reading(table, reader, on_read, n_done)
            order.append(entries)
            yield (
                work.read(entries)
                if texts is None
                else _read_part(work, columns_file(texts, reader.name), entries, rows)
            )
            n_done += len(entries)
            on_read(n_done)

    if not len(table):
        return reader.read(())
    joined = join_text_columns(read())
    return joined.pick(np.argsort(np.concatenate(order)))


class _Reading(NamedTuple):
    """Reading of rows that nothing is kept of."""

    table: ResultTable
    reader: TextReader
    on_read: Callable[[int], None]
    n_done: int

    def read(self, rows: NDArray[np.int64]) -> TextColumns:
        """Work out the columns of some rows."""
        return self.reader.read(self._fetch(rows))

    def _fetch(self, rows: NDArray[np.int64]) -> Iterator[Result]:
        every = self.table.whole(rows, self.reader.texts, self.reader.fields)
        for number, result in enumerate(every, 1):
            yield result
            if number % _TOLD_EVERY == 0:
                self.on_read(self.n_done + number)


class _Kept(NamedTuple):
    """Columns of some rows of a part."""

    rows: NDArray[np.int64]
    """Their numbers within the source, ascending."""
    found: TextColumns


def _read_part(
    work: _Reading, path: Path, entries: NDArray[np.int64], rows: NDArray[np.int64]
) -> TextColumns:
    """Read the columns of some rows of a part, and keep those that are new."""
    import numpy as np

    version = f"{digest_code()} {work.reader.version}"
    kept = _load(path, version)
    is_new = np.ones(len(rows), np.bool_) if kept is None else ~np.isin(rows, kept.rows)
    if is_new.any():
        fresh = _Kept(rows[is_new], work.read(entries[is_new]))
        kept = _merge(fresh) if kept is None else _merge(kept, fresh)
        _save(path, version, kept)
    assert kept is not None
    return kept.found.pick(np.searchsorted(kept.rows, rows))


def _merge(*pieces: _Kept) -> _Kept:
    import numpy as np

    rows = np.concatenate([piece.rows for piece in pieces])
    order = np.argsort(rows)
    return _Kept(rows[order], join_text_columns([each.found for each in pieces]).pick(order))


def _save(path: Path, version: str, kept: _Kept) -> None:
    import numpy as np

    about = orjson.dumps({"version": version, "values": kept.found.values})
    columns = {f"_{name}": _shrink(column) for name, column in kept.found.columns.items()}
    arrays: dict[str, Any] = {"about": np.frombuffer(about, np.uint8), "rows": kept.rows, **columns}
    write_beside(path, lambda stream: np.savez(stream, **arrays))


def _shrink(column: NDArray[Any]) -> NDArray[Any]:
    """Store small numbers in fewer bytes."""
    import numpy as np

    small = column.astype(np.int32)
    return small if (small == column).all() else column


def _load(path: Path, version: str) -> _Kept | None:
    """Read a file; None without one of this version that is as it was written."""
    import numpy as np

    try:
        with open_regular(path) as stream, np.load(stream, allow_pickle=False) as stored:
            about = orjson.loads(stored["about"].tobytes())
            if about["version"] != version:
                return None
            names = [name for name in stored.files if name.startswith("_")]
            columns = {name[1:]: stored[name] for name in names}
            rows = stored["rows"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    values = {name: tuple(texts) for name, texts in about["values"].items()}
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
