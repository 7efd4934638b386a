"""What was found out about single stored rows, kept beside the index: each row is looked at once.

```
index/<columns>/figures.<name>.json    source to two bit fields: known rows, and marked ones
```

A source is only ever appended to, so what was found of a row holds as long as the facts do.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

from poor_bench.results.kept_figures import KeptFile
from poor_bench.results.text_rows import ROW_BITS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.results.settled import SettledBasis

_KNOWN, _MARKED = 0, 1


class RowMarks:
    """Marks of rows that were found under the same facts before."""

    def __init__(self, basis: SettledBasis | None, name: str, about: object) -> None:
        """Read the marks.

        Args:
            basis: Names the sources of the rows; nothing is kept without it.
            name: Of the marks.
            about: What they depend on beside rows and definitions; anything that JSON holds.
        """
        self._sources = dict(basis.sources) if basis else {}
        self._file: KeptFile[dict[str, str]] = KeptFile(basis, name, about)
        kept = self._file.read() or {}
        self._fields = {
            key: unpack_marks(kept[key]).reshape(2, -1)
            for key in self._sources.values()
            if key in kept
        }
        self._is_changed = False

    def look_up(self, places: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell for each of some rows if it is known, and if it is marked."""
        import numpy as np

        found = np.zeros((2, len(places)), dtype=np.bool_)
        for source, entries, rows in self._split(places):
            found[:, entries] = self._field(source, int(rows.max()) + 1)[:, rows]
        return found[_KNOWN], found[_MARKED]

    def note(self, places: NDArray[np.int64], is_marked: NDArray[np.bool_]) -> None:
        """Mark further rows."""
        for source, entries, rows in self._split(places):
            field = self._fields[source] = self._field(source, int(rows.max()) + 1)
            field[_KNOWN, rows], field[_MARKED, rows] = True, is_marked[entries]
            self._is_changed = True

    def keep(self) -> None:
        """Keep the marks of further rows; without permission or space, nothing is kept."""
        if self._is_changed:
            self._file.write({source: pack_marks(field) for source, field in self._fields.items()})
            self._is_changed = False

    def _split(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each source that is known by name, entries of `places` in it, and their rows."""
        import numpy as np

        numbers = places >> ROW_BITS
        order = np.argsort(numbers, kind="stable")  # fast for what is nearly sorted
        starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        for entries in np.split(order, starts[1:]) if len(starts) else ():
            source = self._sources.get(int(numbers[entries[0]]))
            if source is not None:
                yield source, entries, places[entries] & ROWS

    def _field(self, source: str, n_rows: int) -> NDArray[np.bool_]:
        """Give the marks of at least so many rows of a source."""
        import numpy as np

        field = self._fields.get(source)
        n_known = 0 if field is None else field.shape[1]
        if field is not None and n_known >= n_rows:
            return field
        longer = np.zeros((2, n_rows), dtype=np.bool_)
        if field is not None:
            longer[:, :n_known] = field
        return longer


def pack_marks(marks: NDArray[np.bool_]) -> str:
    """Write marks of rows, in one field or several of them, as text."""
    import numpy as np

    return base64.b64encode(zlib.compress(np.packbits(marks, axis=-1).tobytes(), 1)).decode()


def unpack_marks(text: str) -> NDArray[np.bool_]:
    """Read one field that `pack_marks` wrote; a few marks too many follow."""
    import numpy as np

    content = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    return np.unpackbits(content).view(np.bool_)
