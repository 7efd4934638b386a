"""The file of rows that count: what was worked out from the parts, so that it is done once.

```
index/<columns>/settled.bin    eight bytes: length of the header; header, JSON; columns
```

Columns are mapped into memory, not read: many processes share them, and what nobody looks at costs
nothing. Behind each is room for later rows, so that a table of all rows takes memory for those that
are new. The file is written when an eighth of the rows is new, so that the cost per row stays the
same however many there are; above two million rows when 250,000 are new, which costs more per row:
every process settles new rows in memory, a million of which take half a gigabyte. It may be deleted
at any time.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from poor_bench.processes import note_changes
from poor_bench.results.columns import is_constant, is_repeated, repeat
from poor_bench.results.text_rows import ROW_BITS
from poor_bench.safe_files import open_regular, write_beside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NAME = "settled.bin"
_ALIGNED = 64
_AT_ONCE = 1 << 20
_HEADER_BYTES = 160
"""What the header takes for one column, at most."""
FEWEST_NEW_ROWS = 20_000
"""So few new rows are settled anew by every process."""
_NEW_SHARE = 8
"""One in so many rows has to be new before the file is written again."""
_MOST_NEW_ROWS = 250_000
"""So many new rows are enough, whatever the file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledSource:
    """How far a source had been read."""

    name: str
    identity: int
    first_place: int
    n_rows: int
    """Usable rows of its parts; rows behind them are read again."""
    position: int
    """End of its parts: bytes of a journal, or rows of `results.json`."""
    size: int
    """Bytes of a journal that had been read; a shorter file is another one."""
    parts: tuple[tuple[str, int], ...] = ()
    """Name of each part, and the place of its first row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledRows:
    """Rows that count, by rank."""

    columns: Mapping[str, NDArray[Any]]
    sources: tuple[SettledSource, ...] = ()
    latest: str = ""
    """The newest timestamp."""
    codes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each coded field: text to code."""
    digest: str = ""
    """Of the file's header, which has a checksum of each column; empty before it is written."""
    open_again: Callable[[], Mapping[str, NDArray[Any]]] = dict
    """Maps the columns once more, with the room behind them, for a caller who changes them."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns["place"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledBasis:
    """The file of settled rows that a table rests on."""

    folder: Path
    """Where the file is."""
    identity: str
    """Differs for other rows, and for other names of their models."""
    sources: Mapping[int, str] = field(default_factory=dict)
    """Number of each source, as places have it, to what names it among all."""
    changed: Mapping[str, str] = field(default_factory=dict)
    """Model with rows that came later to what names all its rows; the others' are in the file."""

    def name_rows(self, llm_id: str) -> str:
        """Name the rows of a model that count: other rows have another name."""
        return self.identity + self.changed.get(llm_id, "")

    def change(
        self,
        sources: Iterable[SettledSource],
        columns: Mapping[str, NDArray[Any]],
        llm_ids: Sequence[str],
        changed: Iterable[str],
    ) -> SettledBasis:
        """Note models with later rows.

        Args:
            sources: All that rows come from.
            columns: The rows that count.
            llm_ids: The model of each code.
            changed: The models.
        """
        names = _name_sources(sources)
        codes, places = columns["llm_id"], columns["place"]
        found = {
            llm_id: _name_places(places[codes == code], names)
            for code, llm_id in enumerate(llm_ids)
            if llm_id in {*changed}
        }
        return replace(self, sources=names, changed={**self.changed, **found})


def _name_places(places: NDArray[np.int64], sources: Mapping[int, str]) -> str:
    """Name some rows: as sources are only ever appended to, a row stays what it is."""
    import numpy as np

    used = np.unique(places >> ROW_BITS).tolist()
    digest = hashlib.sha256(repr([(number, sources.get(number)) for number in used]).encode())
    digest.update(places.tobytes())
    return digest.hexdigest()


def name_basis(folder: Path, rows: SettledRows, resolve: Callable[[str], str]) -> SettledBasis:
    """Name what a table rests on that starts with the rows of the file.

    Args:
        folder: Where the file is.
        rows: What was read from it.
        resolve: Maps an LLM id of the file to the one in use.
    """
    names = {llm_id: resolve(llm_id) for llm_id in rows.codes["llm_id"]}
    return SettledBasis(
        folder=folder,
        identity=hashlib.sha256(rows.digest.encode() + orjson.dumps(names)).hexdigest(),
        sources=_name_sources(rows.sources),
    )


def _name_sources(sources: Iterable[SettledSource]) -> dict[int, str]:
    return {each.first_place >> ROW_BITS: f"{each.name}.{each.identity}" for each in sources}


def count_room(n_settled: int) -> int:
    """Count the new rows from which on a file of so many rows is written again."""
    return min(max(FEWEST_NEW_ROWS, n_settled // _NEW_SHARE), _MOST_NEW_ROWS)


def write_settled(folder: Path, rows: SettledRows) -> bool:
    """Write the file as a whole; without permission or space, the one before stays.

    Returns:
        True if it was written.
    """
    return write_beside(folder / _NAME, lambda stream: _write(stream, rows))


def _write(stream: Any, rows: SettledRows) -> None:
    """Write column by column: the next one may be worked out when the last one is written."""
    import numpy as np

    described: dict[str, dict[str, object]] = {}
    about = {
        "sources": [asdict(source) for source in rows.sources],
        "latest": rows.latest,
        "codes": {field: list(known.items()) for field, known in rows.codes.items()},
        "columns": described,
    }
    n_header = len(orjson.dumps(about)) + _HEADER_BYTES * (1 + len(rows.columns))
    start, offset, n_rows = _column_start(n_header), 0, 0
    for name, column in rows.columns.items():
        n_rows = len(column)
        is_same = is_constant(column)
        whole = np.ascontiguousarray(column[:1] if is_same else column)
        room = 0 if is_same else count_room(n_rows)
        described[name] = {
            "type": whole.dtype.str,
            "offset": offset,
            "n": len(whole),
            "room": room,
            "crc": zlib.crc32(whole.data),
        }
        stream.seek(start + offset)
        stream.write(whole.data)
        n_bytes = (len(whole) + room) * whole.itemsize
        offset += -(-n_bytes // _ALIGNED) * _ALIGNED
    stream.truncate(start + offset)
    header = orjson.dumps({**about, "n_rows": n_rows}).ljust(n_header)
    stream.seek(0)
    stream.write(len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little"))
    stream.write(header)


def _column_start(n_header: int) -> int:
    return -(-(8 + n_header) // _ALIGNED) * _ALIGNED


def read_settled(folder: Path) -> SettledRows | None:
    """Map the file into memory; None if there is none, or it is not as it was written."""
    try:
        with open_regular(folder / _NAME) as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            return _read(mapped, stream)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _read(mapped: mmap.mmap, stream: Any) -> SettledRows | None:
    head = mapped[:8]
    n_header = int.from_bytes(head[:4], "little")
    header = mapped[8 : 8 + n_header]
    if zlib.crc32(header) != int.from_bytes(head[4:], "little"):
        return None
    stored = orjson.loads(header)
    start = _column_start(n_header)
    columns: dict[str, NDArray[Any]] = {}
    for name, described in stored["columns"].items():
        column = _map_column(mapped, start, described)
        if _compute_crc(stream, start + described["offset"], column.nbytes) != described["crc"]:
            return None
        columns[name] = repeat(column, stored["n_rows"])
    return SettledRows(
        sources=tuple(_read_source(each) for each in stored["sources"]),
        latest=stored["latest"],
        codes={field: dict(known) for field, known in stored["codes"].items()},
        columns=columns,
        digest=hashlib.sha256(header).hexdigest(),
        open_again=_OpenFile(stream, start, stored["columns"]),
    )


def _map_column(
    mapped: mmap.mmap, start: int, described: Mapping[str, Any], room: int = 0
) -> NDArray[Any]:
    import numpy as np

    n, offset = described["n"] + room, start + described["offset"]
    return np.frombuffer(mapped, dtype=np.dtype(described["type"]), count=n, offset=offset)


def _compute_crc(stream: Any, start: int, n_bytes: int) -> int:
    """Compute the checksum of a stretch of the file.

    It reads the file, not the mapping, which would become memory of this process.
    """
    stream.seek(start)
    crc, left = 0, n_bytes
    while left and (piece := stream.read(min(left, _AT_ONCE))):
        crc, left = zlib.crc32(piece, crc), left - len(piece)
    return crc


class _OpenFile:
    """The file as it was read: another process may have replaced it."""

    def __init__(self, stream: Any, start: int, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._descriptor = os.dup(stream.fileno())
        self._start, self._columns = start, columns
        weakref.finalize(self, os.close, self._descriptor)

    def __call__(self) -> dict[str, NDArray[Any]]:
        """See `SettledRows.open_again`."""
        mapped = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_COPY)
        return {
            name: _map_column(mapped, self._start, described, described.get("room", 0))
            for name, described in self._columns.items()
        }


def _read_source(stored: Mapping[str, Any]) -> SettledSource:
    parts: Sequence[Sequence[Any]] = stored["parts"]
    return SettledSource(**{**stored, "parts": tuple((name, place) for name, place in parts)})


def mark_rows(
    columns: Mapping[str, NDArray[Any]], pairs: NDArray[np.int64], n_tests: int
) -> NDArray[np.bool_]:
    """Mark the rows of some pairs of model and test.

    Args:
        columns: With codes of models and tests.
        pairs: Code of a model times `n_tests`, plus code of a test.
        n_tests: Larger than every code of a test.
    """
    import numpy as np

    llms, tests = columns["llm_id"], columns["test_id"]
    found: NDArray[np.bool_] = _list_marks(llms, pairs // n_tests)[llms]
    found &= _list_marks(tests, pairs % n_tests)[tests]
    near = np.flatnonzero(found)
    found[near] = np.isin(llms[near].astype(np.int64) * n_tests + tests[near], pairs)
    return found


def _list_marks(codes: NDArray[Any], marked: NDArray[np.int64]) -> NDArray[np.bool_]:
    """List for every code that occurs if it is among some."""
    import numpy as np

    marks = np.zeros(1 + max(codes.max(initial=0), marked.max(initial=0)), dtype=np.bool_)
    marks[marked] = True
    return marks


class ArrangedColumns(Mapping[str, "NDArray[Any]"]):
    """Columns of the rows that count, by rank: rows of the file, and others that came later.

    A column is arranged when it is asked for. Rows of the file that stay where they were are not
    copied.
    """

    def __init__(
        self,
        settled: SettledRows,
        is_moved: NDArray[np.bool_],
        ranks: NDArray[np.int64],
        fetch: Callable[[str], NDArray[Any]],
    ) -> None:
        """Find the place of each row.

        Args:
            settled: Rows of the file.
            is_moved: Which of them do not count, or are among the others.
            ranks: Of the other rows; no two rows have the same.
            fetch: Gives a column of the other rows.
        """
        import numpy as np

        self._settled, self._fetch = settled, fetch
        of_file, moved = settled.columns["rank"], np.flatnonzero(is_moved)
        last = of_file[-1] if len(of_file) else -1
        # Up to the first row that comes between those of the file, or is gone, places stay.
        others = np.setxor1d(of_file[moved], ranks[ranks <= last])
        self._n_first = len(of_file) if not len(others) else int(of_file.searchsorted(others[0]))
        is_first = ranks < others[0] if len(others) else ranks <= last
        self._new_first = np.flatnonzero(is_first)
        self._places_first = moved[of_file[moved].searchsorted(ranks[is_first])]
        self._kept = self._n_first + np.flatnonzero(~is_moved[self._n_first :])
        self._new = np.flatnonzero(~is_first)
        later = np.append(of_file[self._kept], ranks[self._new])
        self._order = later.argsort(kind="stable")

    @cached_property
    def _own(self) -> Mapping[str, NDArray[Any]]:
        try:
            return self._settled.open_again()
        except (OSError, ValueError):  # such as too little address space
            return {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        import numpy as np

        stored = self._settled.columns[name]
        fetched = self._fetch(name).astype(stored.dtype, copy=False)
        n_rows = self._n_first + len(self._order)
        both = np.append(stored[:1], fetched)
        if (is_repeated(stored) or not len(stored)) and is_constant(both):
            return repeat(both[:1], n_rows)
        column = self._own.get(name, stored[:0])
        if len(column) < n_rows:
            column = np.empty(n_rows, stored.dtype)
            column[: self._n_first] = stored[: self._n_first]
        column = column[:n_rows]
        moved = np.append(np.arange(self._n_first, n_rows, 64), n_rows - 1)  # each page of them
        note_changes(column, np.append(self._places_first, moved))
        column[self._places_first] = fetched[self._new_first]
        later = np.append(stored[self._kept], fetched[self._new])
        column[self._n_first :] = later[self._order]
        column.flags.writeable = False
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._settled.columns)

    def __len__(self) -> int:
        return len(self._settled.columns)
