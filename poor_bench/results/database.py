"""The in-memory database of the index: every SQL text that says which results count."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import threading
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError
from poor_bench.results.columns import (
    ALL_COLUMNS,
    CODES,
    FINGERPRINTS,
    NUMBER_COLUMNS,
    SEARCHED,
    TEXT_COLUMNS,
    decode,
)
from poor_bench.results.settled import SettledRows, SettledSource, mark_rows
from poor_bench.statistics.trials import NUMBERS

if TYPE_CHECKING:
    import numpy as np
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


def _code_joins(fields: Sequence[str]) -> str:
    return " ".join(
        f"JOIN codes {name}_codes ON {name}_codes.field = '{name}' "
        f"AND {name}_codes.value = coalesce(incoming.{name}, '')"
        for name in fields
    )


# Which rows count, in this one place: of each trial its newest score, and its newest failure if
# that came after the score. A score takes the rank of the trial's first score, so that a table
# keeps its order while trials are repeated.
_SETTLE = f"""
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
INSERT INTO newest
  SELECT place, counting.rank, failure_kind IS NOT NULL,
    {", ".join(f"{name}_codes.code" for name in CODES)}, trial,
    {", ".join((*NUMBERS, *FINGERPRINTS))}
  FROM incoming JOIN counting USING (place) {_code_joins(CODES)};
DROP TABLE candidates;
DROP TABLE counting;
CREATE OR REPLACE TABLE incoming AS FROM incoming LIMIT 0;
"""
_MISSING = {
    **dict.fromkeys(NUMBERS, "'nan'::DOUBLE"),
    **dict.fromkeys(FINGERPRINTS, "0::UBIGINT"),
}
"""What stands for a missing value in a column."""
_ROW_BITS = 32
"""A place is the number of a source and, in its lower bits, of a row in it."""
_ROWS = (1 << _ROW_BITS) - 1


class Database:
    """Rows of one store; the caller sees to it that only one thread at a time changes it."""

    def __init__(self, resolve: Callable[[str], str]) -> None:
        """Start without rows.

        Args:
            resolve: Maps an LLM id of a file to the one in use.
        """
        import duckdb

        self._resolve = resolve
        self.connection = duckdb.connect(
            config={
                "threads": min(4, os.cpu_count() or 1),
                "temp_directory": tempfile.gettempdir(),
                "allocator_flush_threshold": "1MB",  # else freed memory of loading stays with us
                "allocator_bulk_deallocation_flush_threshold": "1MB",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
            }
        )
        self._latest = ""
        self._settled: SettledRows | None = None
        self._is_moved: NDArray[np.bool_] | None = None
        """Rows of `_settled` that are in the database instead."""
        self._lock = threading.Lock()
        self._texts_of: dict[int, Path | None] = {}
        """File with the texts from a place on, up to the next of these places; None in memory."""
        self._starts: list[int] = []
        self._numbers = itertools.count(1)
        self._codes: dict[str, dict[str, int]] = {name: {} for name in CODES}
        self._values: dict[str, list[Any]] = {name: [] for name in CODES}
        columns, held = _declare(_NEWEST), _declare(ALL_COLUMNS)
        incoming = _declare({name: NUMBER_COLUMNS[name] for name in [*NUMBER_COLUMNS][1:]})
        self.connection.execute(
            f"CREATE TABLE incoming (place BIGINT, {incoming});"
            f"CREATE TABLE newest ({columns});"
            f"CREATE TABLE held (chunk BIGINT, {held});"
            "CREATE TABLE codes (field VARCHAR, value VARCHAR, code INTEGER);"
        )

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
        self._numbers = itertools.count((last >> _ROW_BITS) + 1)
        return True

    # ---- rows in -----------------------------------------------------------------------------

    def new_source(self) -> int:
        """Find the first place of a source; of a trial, rows of later sources count."""
        return next(self._numbers) << _ROW_BITS

    def read_lines(self, lines: Sequence[bytes]) -> None:
        """Read lines of `row_line` into the table `batch`."""
        kinds = ", ".join(f"'{name}': '{kind}'" for name, kind in ALL_COLUMNS.items())
        longest = max(map(len, lines), default=0)
        with _as_file(lines) as path:
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE batch AS FROM read_json('{path}', "
                f"format = 'newline_delimited', columns = {{{kinds}}}, "
                f"maximum_object_size = {max(1 << 20, 2 * longest)})"
            )

    def hold_batch(self, start: int) -> None:
        """Keep the batch in memory, as part of the chunk that starts at a place."""
        self.connection.execute(f"INSERT INTO held SELECT {start}, * FROM batch")
        self._read_texts(start, None)

    def copy_batch(self, numbers: Path, texts: Path) -> None:
        """Write the batch as the two files of a part."""
        self._copy("batch", numbers, texts)

    def copy_held(self, start: int, numbers: Path, texts: Path) -> None:
        """Write the rows of a chunk as the two files of a part."""
        self._copy(_relation(start, None), numbers, texts)

    def read_texts_from(self, start: int, texts: Path) -> None:
        """Read the texts from a place on from a file of a part from now on."""
        self._read_texts(start, texts)

    def release(self, start: int) -> None:
        """Free the memory of a chunk whose texts are read from a part."""
        self.connection.execute(f"DELETE FROM held WHERE chunk = {start}")

    def count_batch(self, source: int) -> int:
        """Let the rows of the batch count, from the next `settle` on; return how many."""
        return self._count("batch", source)

    def count_part(self, source: int, numbers: Path) -> int:
        """Let the rows of a part count, from the next `settle` on; return how many."""
        return self._count(_parquet(numbers), source)

    def settle(self) -> list[str]:
        """Work out which rows count now; return the LLMs with new rows."""
        query = "SELECT count(*), coalesce(max(timestamp), '') FROM incoming"
        [[n_new, latest]] = self.connection.execute(query).fetchall()
        if not n_new:
            return []
        self._latest = max(self._latest, latest)
        if self._settled is not None:
            self._declare_codes(self._settled)
        for name in CODES:
            self._add_codes(name)
        if self._settled is not None:
            self._move_rows(self._settled)
        self.connection.execute(_SETTLE)
        changed = self.connection.execute("SELECT DISTINCT llm_id FROM fresh").fetchall()
        return [self._values["llm_id"][code] for (code,) in changed]

    def _copy(self, relation: str, numbers: Path, texts: Path) -> None:
        for path, columns in ((numbers, NUMBER_COLUMNS), (texts, TEXT_COLUMNS)):
            names = ", ".join(f'"{name}"' for name in columns)
            self.connection.execute(
                f"COPY (SELECT {names} FROM {relation} ORDER BY row) TO {_quote(path)} "
                "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 8192)"
            )

    def _read_texts(self, start: int, texts: Path | None) -> None:
        with self._lock:
            if start not in self._texts_of:
                insort(self._starts, start)
            self._texts_of[start] = texts

    def _count(self, relation: str, source: int) -> int:
        names = ", ".join(f'"{name}"' for name in NUMBER_COLUMNS if name != "row")
        [[n_rows]] = self.connection.execute(
            f"INSERT INTO incoming SELECT {source}::BIGINT + row, {names} FROM {relation}"
        ).fetchall()
        return int(n_rows)

    def _declare_codes(self, settled: SettledRows) -> None:
        """Put the codes that were restored into the database, where it needs them first."""
        [[n_codes]] = self.connection.execute("SELECT count(*) FROM codes").fetchall()
        for name, known in settled.codes.items() if not n_codes else ():
            self._insert_codes(name, known)

    def _insert_codes(self, name: str, codes: Mapping[str, int]) -> None:
        self.connection.execute(
            "INSERT INTO codes SELECT $1, unnest($2::VARCHAR[]), unnest($3::INTEGER[])",
            [name, list(codes), list(codes.values())],
        )

    def _move_rows(self, settled: SettledRows) -> None:
        """Move settled rows of the tests that new rows are about into the database."""
        import numpy as np

        assert self._is_moved is not None
        n_tests = len(self._values["test_id"])
        query = (
            f"SELECT DISTINCT llm_id_codes.code::BIGINT * {n_tests} + test_id_codes.code AS pair "
            f"FROM incoming {_code_joins(['llm_id', 'test_id'])}"
        )
        pairs = self.connection.execute(query).fetchnumpy()["pair"]
        is_meant = mark_rows(settled.columns, pairs, n_tests) & ~self._is_moved
        if is_meant.any():
            places = np.flatnonzero(is_meant)
            rows = {name: settled.columns[name][places] for name in _NEWEST}
            self.connection.register("moved", rows)
            self.connection.execute("INSERT INTO newest SELECT * FROM moved")
            self.connection.unregister("moved")
            self._is_moved |= is_meant

    def _add_codes(self, name: str) -> None:
        """Give every new value of a field a code, in the order of their first rows."""
        found = self.connection.execute(
            f"SELECT coalesce(\"{name}\", '') FROM incoming GROUP BY 1 ORDER BY min(place)"
        ).fetchall()
        codes, values = self._codes[name], self._values[name]
        new = [text for (text,) in found if text not in codes]
        for text in new:
            value = self._resolve(text) if name == "llm_id" else decode(name, text)
            is_known = name == "llm_id" and value in values  # several ids may mean one LLM
            codes[text] = values.index(value) if is_known else len(values)
            if not is_known:
                values.append(value)
        if new:
            self._insert_codes(name, {text: codes[text] for text in new})

    # ---- frames out --------------------------------------------------------------------------

    def newest(self) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[Any, ...]], str]:
        """Fetch the rows that count, by rank.

        Returns:
            Columns; for each of `CODES` what its codes stand for; the newest timestamp.
        """
        columns = self._fetch_columns()
        del columns["rank"], columns["is_failure"]
        values = {name: tuple(values) for name, values in self._values.items()}
        return columns, values, self._latest

    def keep_settled(self, sources: Sequence[SettledSource]) -> SettledRows:
        """Describe the rows that count for a file.

        Args:
            sources: How far each source has been read.
        """
        return SettledRows(
            sources=tuple(sources),
            latest=self._latest,
            codes={name: dict(known) for name, known in self._codes.items()},
            columns=self._fetch_columns(),
        )

    def _fetch_columns(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        [[n_rows]] = self.connection.execute("SELECT count(*) FROM newest").fetchall()
        settled = self._settled
        if settled is not None and not n_rows:
            return dict(settled.columns)
        is_kept = None if self._is_moved is None else ~self._is_moved

        def fetch(name: str) -> NDArray[Any]:
            fetched = self._fetch_newest(name)
            if settled is None or is_kept is None:
                return fetched
            return np.concatenate([settled.columns[name][is_kept], fetched])

        order = fetch("rank").argsort(kind="stable")
        return {name: fetch(name)[order] for name in _NEWEST}

    def _fetch_newest(self, name: str) -> NDArray[Any]:
        """Fetch one column: fetching all of them at once takes several times their memory."""
        value = f"coalesce({name}, {_MISSING[name]})" if name in _MISSING else f'"{name}"'
        query = f"SELECT {value} AS found FROM newest"
        column: NDArray[Any] = self.connection.execute(query).fetchnumpy()["found"]
        return column

    def texts(self, places: Sequence[int], expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        """Fetch columns of the texts of some rows, in the order of `places`.

        Raises:
            duckdb.Error: If files of the index are damaged or gone.
        """
        found: dict[int, tuple[Any, ...]] = {}
        with self._lock, self.connection.cursor() as cursor:
            for start, some in self._by_start(places).items():
                rows = [place & _ROWS for place in some]
                first, last = min(rows), max(rows)
                query = (
                    f"SELECT {start & ~_ROWS}::BIGINT + row, {', '.join(expressions)} "
                    f"FROM {_relation(start, self._texts_of[start])} WHERE row BETWEEN $1 AND $2"
                )
                given: list[object] = [first, last]
                if len(rows) <= last - first:  # not all that stand between them
                    query += " AND row IN (SELECT unnest($3::BIGINT[]))"
                    given.append(rows)
                for place, *values in cursor.execute(query, given).fetchall():
                    found[place] = tuple(values)
        return [found[place] for place in places]

    def places_with(
        self, words: str, places: NDArray[np.int64], *, is_pattern: bool = False
    ) -> list[int]:
        """Find those rows, and maybe others, whose texts hold `words`, in any case.

        Args:
            words: What is sought; a pattern is one that `check_pattern` accepts.
            places: Where it is sought.
            is_pattern: True if `words` is a regular expression, whose search takes linear time.

        Raises:
            duckdb.Error: If files of the index are damaged or gone.
        """
        import numpy as np

        text = f"concat_ws(chr(10), {', '.join(SEARCHED)})"
        sought = words if is_pattern else words.casefold()
        sought = sought.encode("utf-8", "backslashreplace").decode()
        text = text if is_pattern else _fold(text, sought)
        test = f"regexp_matches({text}, '(?im)' || $1)" if is_pattern else f"contains({text}, $1)"
        with self._lock, self.connection.cursor() as cursor:
            numbers = np.unique(np.searchsorted(self._starts, places, side="right") - 1)
            searched = " UNION ALL ".join(
                f"SELECT {start & ~_ROWS}::BIGINT + row AS place, {', '.join(SEARCHED)} "
                f"FROM {_relation(start, self._texts_of[start])}"
                for start in (self._starts[number] for number in numbers.tolist())
            )
            if not searched:
                return []
            query = f"SELECT place FROM ({searched}) WHERE {test}"
            return [place for (place,) in cursor.execute(query, [sought]).fetchall()]

    def _by_start(self, places: Sequence[int]) -> dict[int, list[int]]:
        """Group places by what their texts are read from."""
        grouped: dict[int, list[int]] = {}
        for place in places:
            start = self._starts[bisect_right(self._starts, place) - 1]
            grouped.setdefault(start, []).append(place)
        return grouped


def check_pattern(pattern: str) -> None:
    """Check that a regular expression can be searched in linear time.

    Raises:
        ConfigError: If it is not valid, or needs look-around or references to groups.
    """
    import duckdb

    try:
        with duckdb.connect() as connection:
            connection.execute("SELECT regexp_matches('', '(?im)' || $1)", [pattern]).fetchall()
    except (duckdb.Error, UnicodeError) as error:
        reason = str(error).partition(": ")[2].partition("\n")[0] or "it cannot be read"
        raise ConfigError(
            f"/{pattern:.100}/ is not a regular expression: {reason}",
            hint="Look-around and back references are not supported.",
        ) from error


def _relation(start: int, texts: Path | None) -> str:
    if texts is None:
        return f"(SELECT * FROM held WHERE chunk = {start})"
    return _parquet(texts)


def _fold(text: str, sought: str) -> str:
    """Fold a text as `str.casefold` does it (sharp s, final sigma), but for very rare letters.

    Letters that are not sought stay as they are: every pass over the texts takes time.
    """
    folded = f"lower({text})"
    for letter, plain in (("\u00df", "ss"), ("\u03c2", "\u03c3")):
        if plain[0] in sought:
            folded = f"replace({folded}, '{letter}', '{plain}')"
    return folded


def _declare(columns: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


@contextmanager
def _as_file(lines: Sequence[bytes]) -> Iterator[str]:
    """Put lines where the database reads them: in memory, so that a full disk does not matter."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rows")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp(suffix=".jsonl")
    try:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.writelines(line + b"\n" for line in lines)
        yield path.replace("'", "''")
    finally:
        os.close(descriptor)
        if not path.startswith("/proc/"):
            Path(path).unlink()


def _quote(path: Path) -> str:
    escaped = str(path).replace("'", "''")
    return f"'{escaped}'"


def _parquet(path: Path) -> str:
    """Name a file to read, as the pattern that only this file matches."""
    pattern = re.sub(r"([*?\[])", r"[\1]", str(path))
    return f"read_parquet({_quote(Path(pattern))})"
