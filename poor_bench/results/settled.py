"""The file of rows that count: what was worked out from the parts, so that it is done once.

```
index/<columns>/settled.bin    eight bytes: length of the header; header, JSON; columns
```

Columns are mapped into memory, not read: many processes share them, and what nobody looks at costs
nothing. The file is written when an eighth of the rows is new, so that the cost per row stays the
same however many there are. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import mmap
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from poor_bench.results.parts import write_beside
from poor_bench.results.text_rows import ROW_BITS
from poor_bench.safe_files import open_regular

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NAME = "settled.bin"
_ALIGNED = 64
_AT_ONCE = 1 << 20
FEWEST_NEW_ROWS = 20_000
"""So few new rows are settled anew by every process."""
_NEW_SHARE = 8
"""One in so many rows has to be new before the file is written again."""


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

    sources: tuple[SettledSource, ...]
    latest: str
    """The newest timestamp."""
    codes: Mapping[str, Mapping[str, int]]
    """For each coded field: text to code."""
    columns: Mapping[str, NDArray[Any]]
    digest: str = ""
    """Of the file's header, which has a checksum of each column; empty before it is written."""

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


def is_worth_writing(n_settled: int, n_new: int) -> bool:
    """Tell if enough rows came after those of the file.

    Args:
        n_settled: Rows of the file; 0 without one.
        n_new: Rows that were read since.
    """
    return n_new >= max(FEWEST_NEW_ROWS, n_settled // _NEW_SHARE)


def write_settled(folder: Path, rows: SettledRows) -> bool:
    """Write the file as a whole; without permission or space, the one before stays.

    Returns:
        True if it was written.
    """
    return write_beside(folder / _NAME, lambda stream: _write(stream, rows))


def _write(stream: Any, rows: SettledRows) -> None:
    import numpy as np

    stored: dict[str, NDArray[Any]] = {}
    described: dict[str, dict[str, object]] = {}
    offset = 0
    for name, column in rows.columns.items():
        whole = np.ascontiguousarray(column if not is_constant(column) else column[:1])
        described[name] = {
            "type": whole.dtype.str,
            "offset": offset,
            "n": len(whole),
            "crc": zlib.crc32(whole.data),
        }
        stored[name] = whole
        offset += -(-whole.nbytes // _ALIGNED) * _ALIGNED
    header = orjson.dumps(
        {
            "sources": [asdict(source) for source in rows.sources],
            "latest": rows.latest,
            "codes": {field: list(known.items()) for field, known in rows.codes.items()},
            "n_rows": rows.n_rows,
            "columns": described,
        }
    )
    start = _column_start(len(header))
    stream.write(len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little"))
    stream.write(header)
    for name, whole in stored.items():
        stream.seek(start + int(str(described[name]["offset"])))
        stream.write(whole.data)
    stream.truncate(start + offset)


def is_repeated(column: NDArray[Any]) -> bool:
    """True if a column holds one value for all of its rows, so that they take no memory."""
    return len(column) > 1 and column.strides == (0,)


def is_constant(column: NDArray[Any]) -> bool:
    """True if all values are the same, bit by bit: a missing value equals another one."""
    import numpy as np

    if is_repeated(column):
        return True
    bits = column.view(np.dtype(f"u{column.itemsize}"))
    return bool(len(bits)) and bool((bits == bits[0]).all())


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
        column = _map_column(mapped, stream, start, described)
        if column is None:
            return None
        columns[name] = repeat(column, stored["n_rows"])
    return SettledRows(
        sources=tuple(_read_source(each) for each in stored["sources"]),
        latest=stored["latest"],
        codes={field: dict(known) for field, known in stored["codes"].items()},
        columns=columns,
        digest=hashlib.sha256(header).hexdigest(),
    )


def _map_column(
    mapped: mmap.mmap, stream: Any, start: int, described: Mapping[str, Any]
) -> NDArray[Any] | None:
    """Map a column; None if it is damaged.

    It is checked by reading the file, not the mapping, which would become memory of this process.
    """
    import numpy as np

    kind, n = np.dtype(described["type"]), described["n"]
    column = np.frombuffer(mapped, dtype=kind, count=n, offset=start + described["offset"])
    stream.seek(start + described["offset"])
    crc, left = 0, column.nbytes
    while left and (piece := stream.read(min(left, _AT_ONCE))):
        crc, left = zlib.crc32(piece, crc), left - len(piece)
    return column if crc == described["crc"] else None


def repeat(column: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Let a column of one value have all rows; they take no memory."""
    import numpy as np

    return column if len(column) == n_rows else np.broadcast_to(column, (n_rows,))


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

    found: NDArray[np.bool_] = np.isin(
        columns["llm_id"].astype(np.int64) * n_tests + columns["test_id"], pairs
    )
    return found
