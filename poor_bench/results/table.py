"""All results in columns: what every screen counts, filters and sorts, a few bytes for each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

from poor_bench.models.result import Result
from poor_bench.processes import release_pages
from poor_bench.results.columns import (
    CODES,
    TEXT_COLUMNS,
    StoredColumn,
    decode_texts,
    results_from_columns,
)
from poor_bench.statistics.trials import NUMBERS, TrialColumns

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from poor_bench.results.settled import SettledBasis


ALL_TEXTS = tuple(name for name in TEXT_COLUMNS if name not in {"row", "llm_id", "test_id"})
_IN_MEMORY = (*CODES, *NUMBERS, "trial")
_FETCHED_AT_ONCE = 1_000
_BLOCK_ROWS = 1 << 19


class TrialKey(NamedTuple):
    """Which row of an LLM: a trial may have a score and a newer failure."""

    test_id: str
    trial: int
    is_failure: bool


class Texts(Protocol):
    """Where the texts of rows are fetched from, by their places."""

    def fetch(self, places: Sequence[int], expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        """Fetch SQL expressions over the columns of texts."""

    def places_with(
        self, words: str, places: NDArray[np.int64], *, is_pattern: bool = False
    ) -> NDArray[np.int64]:
        """Find those places, and maybe others, whose texts hold words or match a pattern."""

    def by_file(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Path | None]]:
        """Group entries of `places` by the file of a part with their texts, see `TextRows`."""

    def places_by_text(
        self, field: str, places: NDArray[np.int64]
    ) -> Mapping[str, NDArray[np.int64]]:
        """Find which of those places, and maybe of others, hold which value of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable(TrialColumns):
    """An immutable view of all results; row numbers are valid within one table only.

    A trial has one row with its newest score, and one more with its newest failure where it has
    failed since.
    """

    version: int
    """Differs between any two tables of one process."""
    llm_versions: Mapping[str, int]
    """LLM id to a number that changes with every result of that LLM."""
    latest: str
    """The newest timestamp; empty if no result has one."""
    texts: Texts
    """Of the rows; `columns` has their place, too, and a code for each of `CODES`."""
    basis: SettledBasis | None = None
    """None where no file was there to start from, and for a selection of rows."""

    @property
    def llm_ids(self) -> tuple[str, ...]:
        """The LLMs that have results, in the order of the file."""
        return tuple(str(value) for value in self.values["llm_id"])

    def name_rows(self) -> list[tuple[str, str]]:
        """List the models with what names their rows; none without a basis."""
        basis, llm_ids = self.basis, self.find_values("llm_id")
        return [(llm_id, basis.name_rows(llm_id)) for llm_id in llm_ids] if basis else []

    def value(self, field: str, row: int) -> Any:
        """Look up a coded field of a row."""
        return self.values[field][self.columns[field][row]]

    def number(self, field: str, row: int) -> float | None:
        """Look up a number of a row; None if the result does not have it."""
        number = float(self.columns[field][row])
        return None if math.isnan(number) else number

    def find_code(self, field: str, value: Hashable) -> int:
        """Look up the code of a value, or -1 if no result has it."""
        try:
            return self.values[field].index(value)
        except ValueError:
            return -1

    def find_rows(self, llm_id: str) -> NDArray[np.int64]:
        """Find the rows of an LLM."""
        rows: NDArray[np.int64] = (
            self.columns["llm_id"] == self.find_code("llm_id", llm_id)
        ).nonzero()[0]
        return rows

    def key(self, row: int) -> TrialKey:
        """Name a row within its LLM; the name holds in other tables, too."""
        is_failure = self.value("failure_kind", row) is not None
        return TrialKey(self.value("test_id", row), int(self.columns["trial"][row]), is_failure)

    def find(self, llm_id: str, key: TrialKey) -> int | None:
        """Find the row of a trial; None if it has none."""
        rows = self.find_rows(llm_id)
        rows = rows[self.columns["test_id"][rows] == self.find_code("test_id", key.test_id)]
        return next((int(row) for row in rows if self.key(row) == key), None)

    def select(self, is_kept: NDArray[np.bool_], *, offset: int = 0) -> ResultTable:
        """Keep some rows only; versions become others by `offset`."""
        return replace(
            self,
            basis=None,
            version=self.version + offset,
            llm_versions={llm_id: each + offset for llm_id, each in self.llm_versions.items()},
            columns=self.columns if is_kept.all() else self._pick_columns(is_kept),
        )

    def _pick_columns(self, is_kept: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """Copy some rows; read at once, columns of ten million rows fill a gigabyte."""
        rows, picked = is_kept.nonzero()[0], dict[str, Any]()
        for name, column in self.columns.items():
            picked[name] = column[rows]
            release_pages([column])
        return picked

    def pick_rows(self, rows: NDArray[np.int64]) -> ResultTable:
        """Select rows by their numbers; where they stand together, nothing is copied."""
        chosen: NDArray[np.int64] | slice = rows
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
            chosen = slice(rows[0], rows[-1] + 1)
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return replace(self, basis=None, columns=columns)

    def split(self) -> Iterator[tuple[int, ResultTable]]:
        """Yield the first row of each block of rows, and a table of the block; nothing is copied.

        What is worked out block by block takes no memory in proportion to the rows.
        """
        for start in range(0, len(self), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            columns = {name: column[rows] for name, column in self.columns.items()}
            yield start, replace(self, columns=columns)

    def release(self) -> None:
        """Give pages of the file of settled rows that were read back to the system.

        They are read from its cache when they are needed again.
        """
        release_pages(self.columns.values())

    def whole(
        self,
        rows: Sequence[int] | NDArray[np.int64],
        texts: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
    ) -> Iterator[Result]:
        """Yield results with their texts, fetched a thousand at a time.

        Args:
            rows: Rows of this table.
            texts: Texts that are needed; the others are at their defaults. None for all.
            fields: Columns that are needed; the other fields are at their defaults. None for all.

        Raises:
            StoreError: If the index is damaged.
        """
        texts = ALL_TEXTS if texts is None else texts
        for start in range(0, len(rows), _FETCHED_AT_ONCE):
            some = rows[start : start + _FETCHED_AT_ONCE]
            columns = self._decode_columns(some, fields)
            fetched = self.text_columns(some, texts)
            for name, values in zip(texts, zip(*fetched, strict=True), strict=True):
                columns[name] = decode_texts(name, values)
            yield from results_from_columns(columns)

    def to_frame(self) -> pd.DataFrame:
        """Convert to a frame with a row each, without the texts; NaN and None are missing."""
        import numpy as np
        import pandas as pd

        names = (*NUMBERS, "trial")
        codes = self._decode_columns(np.arange(len(self)), CODES)
        return pd.DataFrame({**codes, **{name: self.columns[name] for name in names}})

    def text_columns(
        self, rows: Sequence[int] | NDArray[np.int64], expressions: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Fetch texts of some rows, such as `left(response, 300)`: only what is shown is read.

        Args:
            rows: Rows of this table.
            expressions: SQL over the columns of texts; never with texts of users in it.

        Raises:
            StoreError: If the index is damaged.
        """
        places = self.columns["place"]
        return self.texts.fetch([int(places[row]) for row in rows], expressions)

    def holding(
        self, words: str, rows: NDArray[np.int64], *, is_pattern: bool = False
    ) -> NDArray[np.bool_]:
        """Tell for each of some rows whether one of its texts holds `words`, in any case.

        Args:
            words: What is sought.
            rows: Rows of this table.
            is_pattern: True if `words` is a regular expression, see `check_pattern`.
        """
        import numpy as np

        places = self.columns["place"][rows]
        found = np.sort(self.texts.places_with(words, places, is_pattern=is_pattern))
        if not len(found):
            return np.zeros(len(places), dtype=np.bool_)
        is_found: NDArray[np.bool_] = (
            found[np.searchsorted(found, places).clip(max=len(found) - 1)] == places
        )
        return is_found

    def places_by_text(self, field: str, rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Find which of some rows hold which value of a text whose values repeat.

        Args:
            field: A text, such as `cause`.
            rows: Rows of this table.

        Returns:
            Value to places in `rows`; empty values are left out.
        """
        import numpy as np

        if not len(rows):
            return {}
        of_rows = self.columns["place"][rows]
        order = of_rows.argsort(kind="stable")
        in_order = of_rows[order]
        found = {}
        for text, own in self.texts.places_by_text(field, of_rows).items():
            near = np.searchsorted(in_order, own).clip(max=len(rows) - 1)
            here = order[near[in_order[near] == own]]
            if len(here):
                found[text] = np.sort(here)
        return found

    def select_columns(
        self, rows: Sequence[int] | NDArray[np.int64], fields: Sequence[str] | None = None
    ) -> dict[str, StoredColumn]:
        """Select columns of some rows; None for all fields that are in memory."""
        import numpy as np

        chosen = np.asarray(rows, dtype=np.int64)
        return {
            name: StoredColumn(self.columns[name][chosen], self.values.get(name))
            for name in (_IN_MEMORY if fields is None else fields)
        }

    def _decode_columns(
        self, rows: Sequence[int] | NDArray[np.int64], fields: Sequence[str] | None
    ) -> dict[str, list[Any]]:
        found = self.select_columns(rows, fields)
        return {name: column.decode(name) for name, column in found.items()}


class StoredRows(Sequence[Result]):
    """All results of a table, texts and all; going through them keeps none in memory."""

    def __init__(self, table: ResultTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, place: int | slice) -> Result | tuple[Result, ...]:
        return self._results[place]

    def __iter__(self) -> Iterator[Result]:
        return self._table.whole(range(len(self._table)))

    @cached_property
    def _results(self) -> tuple[Result, ...]:
        return tuple(self)
