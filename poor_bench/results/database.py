"""The in-memory database of the index: every SQL text that says which results count."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.processes import release_pages
from poor_bench.results.columns import (
    ALL_COLUMNS,
    CODES,
    FINGERPRINTS,
    NUMBER_COLUMNS,
    TEXT_COLUMNS,
    decode,
)
from poor_bench.results.connections import as_file, open_database
from poor_bench.results.settled import (
    ArrangedColumns,
    SettledRows,
    SettledSource,
    mark_rows,
)
from poor_bench.results.text_rows import (
    ROW_BITS,
    TextRows,
    build_relation,
    parquet_relation,
    quote_path,
)
from poor_bench.statistics.trials import NUMBERS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


_NEWEST = {
    "place": "BIGINT",
    "rank": "BIGINT",
    "is_failure": "BOOLEAN",
    **dict.fromkeys(CODES, "INTEGER"),
    "trial": "BIGINT",
    **dict.fromkeys(NUMBERS, "DOUBLE"),
    **dict.fromkeys(FINGERPRINTS, "UBIGINT"),
}
"""Columns of the rows that count; `place` grows with every row that is read."""


_TYPES = {
    "BIGINT": "i8",
    "BOOLEAN": "?",
    "INTEGER": "i4",
    "DOUBLE": "f8",
    "UBIGINT": "u8",
}


def _code_joins(fields: Sequence[str]) -> str:
    return " ".join(
        f"JOIN codes {name}_codes ON {name}_codes.field = '{name}' "
        f"AND {name}_codes.value = coalesce(incoming.{name}, '')"
        for name in fields
    )


# Which rows count, in this one place: of each trial its newest score, and its newest failure if
# that came after the score. A score takes the rank of the trial's first score, so that a table
# keeps its order while trials are repeated.
_CHOOSE = f"""
CREATE OR REPLACE TEMP TABLE fresh AS
  SELECT place, failure_kind IS NOT NULL AS is_failure, trial,
    llm_id_codes.code AS llm_id, test_id_codes.code AS test_id
  FROM incoming {_code_joins(["llm_id", "test_id"])};
CREATE OR REPLACE TEMP TABLE candidates AS
  SELECT llm_id, test_id, trial, is_failure, place, place AS rank FROM fresh
  UNION ALL
  SELECT llm_id, test_id, trial, is_failure, place, rank FROM newest
    SEMI JOIN fresh USING (llm_id, test_id, trial);
CREATE OR REPLACE TEMP TABLE counting AS
  WITH trials AS (
    SELECT max(place) FILTER (NOT is_failure) AS scored, min(rank) FILTER (NOT is_failure) AS rank,
      max(place) FILTER (is_failure) AS failed
    FROM candidates GROUP BY llm_id, test_id, trial
  )
  SELECT scored AS place, rank FROM trials WHERE scored IS NOT NULL
  UNION ALL
  SELECT failed, failed FROM trials WHERE failed > scored OR (failed >= 0 AND scored IS NULL);
DELETE FROM newest
  WHERE place IN (SELECT place FROM candidates ANTI JOIN counting USING (place))
    OR place IN (SELECT place FROM fresh);
DROP TABLE candidates;
"""
_NOT_SHOWN = ("rank", "is_failure")
"""Columns that only tell which rows count, and in which order."""
_MOST_INCOMING = 250_000
"""Rows that wait to be settled, at most: it bounds the memory of building an index."""
_MISSING = {
    **dict.fromkeys(NUMBERS, "'nan'::DOUBLE"),
    **dict.fromkeys(FINGERPRINTS, "0::UBIGINT"),
}
"""What stands for a missing value in a column."""
_LISTED = ", ".join(f"coalesce(\"{name}\", '')" for name in CODES)
_VALUES = f"""
SELECT field, text FROM (
  SELECT place, unnest(range({len(CODES)})) AS field, unnest([{_LISTED}]) AS text FROM incoming
) GROUP BY ALL ORDER BY field, min(place)
"""
"""Each value of each field of `CODES`, by its first row: planning a query for each field takes
longer than reading a thousand rows."""
_VALUES_AT_ONCE = 1 << 17
"""How many values are fetched by one query; while they are fetched, they take several times their
memory."""


class Database:
    """Rows of one store; the caller sees to it that only one thread at a time changes it.

    DuckDB starts with the first new row, or the first text that is read: without either, what was
    settled before is all there is, and most commands end sooner than DuckDB is loaded.
    """

    def __init__(
        self,
        resolve: Callable[[str], str],
        start_again: Callable[[Database], None],
        n_bytes: int,
    ) -> None:
        """Start without rows.

        Args:
            resolve: Maps an LLM id of a file to the one in use.
            start_again: Called where files of texts turn out to be damaged.
            n_bytes: Size of the files with the rows that are to come.
        """
        self._resolve, self._n_bytes = resolve, n_bytes
        self._connections: tuple[DuckDBPyConnection, DuckDBPyConnection] | None = None
        self._opening = threading.Lock()
        self._latest = ""
        self._settled = SettledRows(columns=_no_rows())
        self._is_moved = self._settled.columns["is_failure"]
        """Rows of `_settled` that are in the database instead."""
        self.texts = TextRows(lambda: self._open()[1], partial(start_again, self))
        self._numbers = itertools.count(1)
        self._n_incoming = 0
        self._changed: dict[str, None] = {}
        """Models with rows that were settled since they were last asked for."""
        self._codes: dict[str, dict[str, int]] = {name: {} for name in CODES}
        self._values: dict[str, list[Any]] = {name: [] for name in CODES}

    @property
    def connection(self) -> DuckDBPyConnection:
        """The one that changes the database."""
        return self._open()[0]

    def _open(self) -> tuple[DuckDBPyConnection, DuckDBPyConnection]:
        with self._opening:
            if self._connections is None:
                self._connections = open_database(self, self._n_bytes)
                _create_tables(self._connections[0])
            return self._connections

    def restore(self, settled: SettledRows) -> bool:
        """Start with rows that counted before; return False if their models are others now."""
        import numpy as np

        for name, known in settled.codes.items():
            values: list[Any] = [None] * (max(known.values(), default=-1) + 1)
            for text, code in known.items():
                value = self._resolve(text) if name == "llm_id" else decode(name, text)
                if values[code] not in (None, value):
                    return False
                values[code] = value
            if name == "llm_id" and len(set(values)) < len(values):
                return False
            self._codes[name], self._values[name] = dict(known), values
        self._settled, self._latest = settled, settled.latest
        self._is_moved = np.zeros(settled.n_rows, dtype=np.bool_)
        last = max((source.first_place for source in settled.sources), default=0)
        self._numbers = itertools.count((last >> ROW_BITS) + 1)
        return True

    def new_source(self) -> int:
        """Find the first place of a source; of a trial, rows of later sources count."""
        return next(self._numbers) << ROW_BITS

    def read_lines(self, lines: Sequence[bytes]) -> None:
        """Read lines of `row_line` into the table `batch`."""
        kinds = ", ".join(f"'{name}': '{kind}'" for name, kind in ALL_COLUMNS.items())
        longest = max(map(len, lines), default=0)
        with as_file(lines) as path:
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE batch AS FROM read_json('{path}', "
                f"format = 'newline_delimited', columns = {{{kinds}}}, "
                f"maximum_object_size = {max(1 << 20, 2 * longest)})"
            )

    def hold_batch(self, start: int) -> None:
        """Keep the batch in memory, as part of the chunk that starts at a place."""
        self.connection.execute(f"INSERT INTO held SELECT {start}, * FROM batch")
        self.texts.read_from(start, None)

    def copy_batch(self, numbers: Path, texts: Path) -> None:
        """Write the batch as the two files of a part."""
        self._copy("batch", numbers, texts)

    def copy_held(self, start: int, numbers: Path, texts: Path) -> None:
        """Write the rows of a chunk as the two files of a part."""
        self._copy(build_relation(start, None), numbers, texts)

    def release(self, start: int) -> None:
        """Free the memory of a chunk whose texts are read from a part."""
        self.connection.execute(f"DELETE FROM held WHERE chunk = {start}")

    def count_batch(self, source: int) -> int:
        """Let the rows of the batch count, from the next `settle` on; return how many."""
        return self._count("batch", source)

    def count_part(self, source: int, numbers: Path) -> int:
        """Let the rows of a part count, from the next `settle` on; return how many."""
        return self._count(parquet_relation(numbers), source)

    def settle(self) -> list[str]:
        """Work out which rows count now; return the LLMs with new rows since the last call."""
        self._settle_incoming()
        changed, self._changed = list(self._changed), {}
        return changed

    def _settle_incoming(self) -> None:
        if not self._n_incoming:
            return
        query = "SELECT coalesce(max(timestamp), '') FROM incoming"
        [[latest]] = self.connection.execute(query).fetchall()
        self._n_incoming = 0
        self._latest = max(self._latest, latest)
        self._declare_codes()
        self._add_codes()
        self._move_rows()
        self.connection.execute(_CHOOSE)
        self._insert_counting()
        found = self.connection.execute("SELECT llm_id FROM fresh").fetchnumpy()["llm_id"]
        self._changed |= dict.fromkeys(self._values["llm_id"][code] for code in set(found.tolist()))

    def _insert_counting(self) -> None:
        """Insert the rows that count: joins are dear, and a field with one value needs none."""
        only = {name: set(codes.values()) for name, codes in self._codes.items()}
        joined = [name for name in CODES if len(only[name]) > 1]
        codes = (f"{name}_codes.code" if name in joined else str(*only[name]) for name in CODES)
        self.connection.execute(
            "INSERT INTO newest SELECT place, counting.rank, failure_kind IS NOT NULL, "
            f"{', '.join((*codes, 'trial', *NUMBERS, *FINGERPRINTS))} "
            f"FROM incoming JOIN counting USING (place) {_code_joins(joined)};"
            "DROP TABLE counting;"
            "CREATE OR REPLACE TABLE incoming AS FROM incoming LIMIT 0;"
        )

    def _copy(self, relation: str, numbers: Path, texts: Path) -> None:
        for path, columns in ((numbers, NUMBER_COLUMNS), (texts, TEXT_COLUMNS)):
            names = ", ".join(f'"{name}"' for name in columns)
            self.connection.execute(
                f"COPY (SELECT {names} FROM {relation} ORDER BY row) TO {quote_path(path)} "
                "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 8192)"
            )

    def _count(self, relation: str, source: int) -> int:
        names = ", ".join(f'"{name}"' for name in NUMBER_COLUMNS if name != "row")
        [[n_rows]] = self.connection.execute(
            f"INSERT INTO incoming SELECT {source}::BIGINT + row, {names} FROM {relation}"
        ).fetchall()
        self._n_incoming += int(n_rows)
        if self._n_incoming >= _MOST_INCOMING:
            self._settle_incoming()
        return int(n_rows)

    def _declare_codes(self) -> None:
        """Put the codes that were restored into the database, where it needs them first."""
        [[n_codes]] = self.connection.execute("SELECT count(*) FROM codes").fetchall()
        if not n_codes:
            self._insert_codes(
                (name, text, code)
                for name, known in self._settled.codes.items()
                for text, code in known.items()
            )

    def _insert_codes(self, codes: Iterable[tuple[str, str, int]]) -> None:
        columns = [list(column) for column in zip(*codes, strict=True)]
        if columns:
            self.connection.execute(
                "INSERT INTO codes "
                "SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[]), unnest($3::INTEGER[])",
                columns,
            )

    def _move_rows(self) -> None:
        """Move settled rows of the tests that new rows are about into the database."""
        import numpy as np

        columns = self._settled.columns
        n_tests = len(self._values["test_id"])
        query = (
            f"SELECT DISTINCT llm_id_codes.code::BIGINT * {n_tests} + test_id_codes.code AS pair "
            f"FROM incoming {_code_joins(['llm_id', 'test_id'])}"
        )
        pairs = self.connection.execute(query).fetchnumpy()["pair"]
        is_meant = mark_rows(columns, pairs, n_tests) & ~self._is_moved
        if is_meant.any():
            places = np.flatnonzero(is_meant)
            rows = {name: columns[name][places] for name in _NEWEST}
            self.connection.register("moved", rows)
            self.connection.execute("INSERT INTO newest SELECT * FROM moved")
            self.connection.unregister("moved")
            self._is_moved |= is_meant

    def _add_codes(self) -> None:
        """Give every new value of a field a code, in the order of their first rows."""
        found = self.connection.execute(_VALUES).fetchall()
        new = [(CODES[field], text) for field, text in found]
        new = [(name, text) for name, text in new if text not in self._codes[name]]
        self._insert_codes((name, text, self._add_code(name, text)) for name, text in new)

    def _add_code(self, name: str, text: str) -> int:
        codes, values = self._codes[name], self._values[name]
        value = self._resolve(text) if name == "llm_id" else decode(name, text)
        is_known = name == "llm_id" and value in values  # several ids may mean one LLM
        codes[text] = values.index(value) if is_known else len(values)
        if not is_known:
            values.append(value)
        return codes[text]

    def newest(self) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[Any, ...]], str]:
        """Fetch the rows that count, by rank; what codes stand for; the newest timestamp."""
        counting = self._arrange()
        columns = {name: counting[name] for name in _NEWEST if name not in _NOT_SHOWN}
        values = {name: tuple(values) for name, values in self._values.items()}
        release_pages(self._settled.columns.values())
        return columns, values, self._latest

    def keep_settled(self, sources: Iterable[SettledSource]) -> SettledRows:
        """Describe the rows that count, for a file, and how far sources are read."""
        self._settle_incoming()
        return SettledRows(
            sources=tuple(sources),
            latest=self._latest,
            codes={name: dict(known) for name, known in self._codes.items()},
            columns=self._arrange(),
        )

    def _arrange(self) -> Mapping[str, NDArray[Any]]:
        """Give the rows that count, by rank; columns are worked out when they are asked for."""
        ranks = self._fetch_newest(["rank"])["rank"] if self._connections else None
        if ranks is None or not len(ranks):
            return self._settled.columns
        names, n_at_once = [*_NEWEST], max(1, _VALUES_AT_ONCE // len(ranks))
        fetched: dict[str, NDArray[Any]] = {}

        def fetch(name: str) -> NDArray[Any]:
            if name not in fetched:
                start = names.index(name)
                fetched.clear()
                fetched.update(self._fetch_newest(names[start : start + n_at_once]))
            return fetched[name]

        return ArrangedColumns(self._settled, self._is_moved, ranks, fetch)

    def _fetch_newest(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        values = (
            f'coalesce({name}, {_MISSING[name]}) AS "{name}"' if name in _MISSING else f'"{name}"'
            for name in names
        )
        query = f"SELECT {', '.join(values)} FROM newest"
        columns: dict[str, NDArray[Any]] = self.connection.execute(query).fetchnumpy()
        return columns


def _no_rows() -> dict[str, NDArray[Any]]:
    import numpy as np

    return {name: np.zeros(0, _TYPES[kind]) for name, kind in _NEWEST.items()}


def _create_tables(connection: DuckDBPyConnection) -> None:
    columns, held = _declare(_NEWEST), _declare(ALL_COLUMNS)
    incoming = _declare({name: NUMBER_COLUMNS[name] for name in [*NUMBER_COLUMNS][1:]})
    connection.execute(
        f"CREATE TABLE incoming (place BIGINT, {incoming});"
        f"CREATE TABLE newest ({columns});"
        f"CREATE TABLE held (chunk BIGINT, {held});"
        "CREATE TABLE codes (field VARCHAR, value VARCHAR, code INTEGER);"
    )


def _declare(columns: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
