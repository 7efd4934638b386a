"""Long texts of the rows of a store: fetched for single rows, and searched, where they stand.

Patterns are searched by RE2 within DuckDB: in linear time, and with a limit.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError, StoreError
from poor_bench.results.columns import SEARCHED
from poor_bench.results.connections import connect

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray


ROW_BITS = 32
"""A place is the number of a source and, in its lower bits, of a row in it."""
ROWS = (1 << ROW_BITS) - 1
"""Bits of a place that number the row."""


class TextRows:
    """Texts by the places of their rows: in the table `held`, or in files of parts."""

    def __init__(
        self,
        open_reader: Callable[[], duckdb.DuckDBPyConnection],
        note_damage: Callable[[], None],
    ) -> None:
        """Know no row yet.

        Args:
            open_reader: Gives a connection to the database of the store that nobody else uses.
            note_damage: Called where files turn out to be damaged or gone.
        """
        self._open_reader = open_reader
        self._note_damage = note_damage
        self._lock = threading.Lock()
        self._files: dict[int, Path | None] = {}
        """File with the texts from a place on, up to the next of these places; None in memory."""
        self._starts: list[int] = []

    def read_from(self, start: int, texts: Path | None) -> None:
        """Read the texts from a place on from a file of a part, or from memory, from now on."""
        with self._lock:
            if start not in self._files:
                insort(self._starts, start)
            self._files[start] = texts

    def fetch(self, places: Sequence[int], expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        """Fetch columns of the texts of some rows, in the order of `places`.

        Raises:
            StoreError: If the index is damaged.
        """
        found: dict[int, tuple[Any, ...]] = {}
        if not places:
            return []
        with self._reading() as cursor:
            for query, given in self._write_queries(places, ", ".join(expressions)):
                for place, *values in cursor.execute(query, given).fetchall():
                    found[place] = tuple(values)
        return [found[place] for place in places]

    def _write_queries(
        self, places: Sequence[int], shown: str
    ) -> Iterator[tuple[str, list[object]]]:
        """Write one query for the rows of all files, and one for each chunk in memory.

        A query for each file would cost more than twice the time of the one for all.
        """
        grouped = self._by_start(places)
        in_files = [start for start in grouped if self._files[start] is not None]
        if len(in_files) > 1:
            yield self._query_files({start: grouped.pop(start) for start in in_files}, shown)
        for start, some in grouped.items():
            rows = [place & ROWS for place in some]
            first, last = min(rows), max(rows)
            query = (
                f"SELECT {start & ~ROWS}::BIGINT + row, {shown} "
                f"FROM {build_relation(start, self._files[start])} WHERE row BETWEEN $1 AND $2"
            )
            given: list[object] = [first, last]
            if len(rows) <= last - first:  # not all that stand between them
                query += " AND row IN (SELECT unnest($3::BIGINT[]))"
                given.append(rows)
            yield query, given

    def _query_files(
        self, grouped: Mapping[int, Sequence[int]], shown: str
    ) -> tuple[str, list[object]]:
        """Write the query for rows of several files; the list of rows passes over most groups."""
        given: list[object] = [
            [number for number, some in enumerate(grouped.values()) for _ in some],
            [place for some in grouped.values() for place in some],
        ]
        rows = sorted({place & ROWS for some in grouped.values() for place in some})
        files = parquet_relation(*(self._files[start] for start in grouped))
        query = (
            f"SELECT place, {shown} FROM {files} JOIN (SELECT unnest($1::BIGINT[]) AS file, "
            "unnest($2::BIGINT[]) AS place) "
            f"ON file_index = file AND row = place & {ROWS} WHERE row IN ({str(rows)[1:-1]})"
        )
        return query, given

    def places_with(
        self, words: str, places: NDArray[np.int64], *, is_pattern: bool = False
    ) -> NDArray[np.int64]:
        """Find those rows, and maybe others, whose texts hold `words`, in any case.

        Args:
            words: What is sought; a pattern is one that `check_pattern` accepts.
            places: Where it is sought.
            is_pattern: True if `words` is a regular expression, whose search takes linear time.

        Raises:
            ConfigError: If the search for a pattern takes too long.
            StoreError: If the index is damaged.
        """
        import numpy as np

        sought = words if is_pattern else words.casefold()
        sought = sought.encode("utf-8", "backslashreplace").decode()
        test = " OR ".join(
            f"regexp_matches({name}, '{FLAGS}' || $1)"
            if is_pattern
            else f"contains({_fold(name, sought)}, $1)"
            for name in SEARCHED
        )
        with self._reading() as cursor:
            searched = self._relate(places, SEARCHED)
            if not searched:
                return np.zeros(0, dtype=np.int64)
            query = f"SELECT place FROM ({searched}) WHERE {test}"
            with limit_time(cursor, sought) if is_pattern else nullcontext():
                found = cursor.execute(query, [sought]).fetchnumpy()
            return np.asarray(found["place"], dtype=np.int64)

    def places_by_text(self, field: str, places: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Find where each value of a text whose values repeat stands; missing ones are left out.

        Args:
            field: A column of texts, such as `cause`.
            places: Rows of which it is asked; others may be found, too.

        Raises:
            StoreError: If the index is damaged.
        """
        import numpy as np

        with self._reading() as cursor:
            read = self._relate(places, [f"{field} AS text"])
            if not read:
                return {}
            query = (
                f"SELECT text, list(place) AS places FROM ({read}) WHERE text <> '' GROUP BY text"
            )
            found = cursor.execute(query).fetchnumpy()
            return {
                str(text): np.asarray(own, dtype=np.int64)
                for text, own in zip(found["text"], found["places"], strict=True)
            }

    def _relate(self, places: NDArray[np.int64], names: Sequence[str]) -> str:
        """Write the query of columns of all texts that places are of, with the place of each."""
        import numpy as np

        used = np.bincount(np.searchsorted(self._starts, places, side="right")).nonzero()[0]
        starts = [self._starts[number - 1] for number in used.tolist()]
        in_files = [start for start in starts if self._files[start] is not None]
        columns = ", ".join(names)
        parts = [
            f"SELECT {start & ~ROWS}::BIGINT + row AS place, {columns} "
            f"FROM {build_relation(start, None)}"
            for start in starts
            if self._files[start] is None
        ]
        if in_files:
            firsts = ", ".join(str(start & ~ROWS) for start in in_files)
            files = parquet_relation(*(self._files[start] for start in in_files))
            parts.append(
                f"SELECT [{firsts}][file_index::BIGINT + 1]::BIGINT + row AS place, {columns} "
                f"FROM {files}"
            )
        return " UNION ALL ".join(parts)

    def by_file(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Path | None]]:
        """Group entries of `places` by the file of a part with their texts.

        Yields:
            Entries, the number of each one's row within its source, and the file; None for rows
            in memory.
        """
        import numpy as np

        with self._lock:
            starts, files = [*self._starts], dict(self._files)
        numbers = np.searchsorted(starts, places, side="right") - 1
        order = None if (numbers[1:] >= numbers[:-1]).all() else np.argsort(numbers, kind="stable")
        numbers = numbers if order is None else numbers[order]
        firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
        used, ends = numbers[firsts].tolist(), [*firsts[1:].tolist(), len(places)]
        del numbers
        for number, first, end in zip(used, firsts.tolist(), ends, strict=False):
            entries = np.arange(first, end) if order is None else order[first:end]
            yield entries, places[entries] & ROWS, files[starts[number]]

    def _by_start(self, places: Sequence[int]) -> dict[int, list[int]]:
        """Group places by what their texts are read from."""
        grouped: dict[int, list[int]] = {}
        for place in places:
            start = self._starts[bisect_right(self._starts, place) - 1]
            grouped.setdefault(start, []).append(place)
        return grouped

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        try:
            with self._lock:
                yield self._open_reader()
        except (duckdb.Error, KeyError) as error:
            self._note_damage()
            raise StoreError(
                f"the index of the results is damaged: {error}",
                hint="It has been removed and is built again when next needed. Try again.",
            ) from error


def read_rows(texts: Path, rows: NDArray[np.int64], names: Sequence[str]) -> dict[str, list[Any]]:
    """Read texts of some rows from the file of a part, without an index.

    Args:
        texts: The file.
        rows: Numbers of rows, ascending.
        names: Columns of the file.

    Raises:
        duckdb.Error: If the file is damaged or gone.
        KeyError: If it lacks a row.
    """
    import numpy as np

    query = f"SELECT row, {', '.join(names)} FROM {parquet_relation(texts)} ORDER BY row"
    with connect() as connection:
        found = connection.execute(query).fetchnumpy()
    places = np.searchsorted(found["row"], rows)
    if len(rows) and (places[-1] >= len(found["row"]) or (found["row"][places] != rows).any()):
        raise KeyError(texts.name)
    return {name: found[name][places].tolist() for name in names}  # masked ones are None


def build_relation(start: int, texts: Path | None) -> str:
    """Name what holds the texts from a place on."""
    if texts is None:
        return f"(SELECT * FROM held WHERE chunk = {start})"
    return parquet_relation(texts)


def _fold(text: str, sought: str) -> str:
    """Fold a text as `str.casefold` does it (sharp s, final sigma), but for very rare letters.

    Letters that are not sought stay as they are: every pass over the texts takes time.
    """
    folded = text if sought.upper() == sought else f"lower({text})"
    for letter, plain in (("\u00df", "ss"), ("\u03c2", "\u03c3")):
        if plain[0] in sought:
            folded = f"replace({folded}, '{letter}', '{plain}')"
    return folded


def quote_path(path: Path) -> str:
    """Write a path as SQL does."""
    escaped = str(path).replace("'", "''")
    return f"'{escaped}'"


def parquet_relation(*paths: Path | None) -> str:
    """Name files to read, each as the pattern that only this file matches; None is left out."""
    patterns = (re.sub(r"([*?\[])", r"[\1]", str(path)) for path in paths if path is not None)
    return f"read_parquet([{', '.join(quote_path(Path(each)) for each in patterns)}])"


MOST_S = 5.0
"""Longest search for one pattern in all texts, in seconds."""
_AGAIN_S = 0.02
FLAGS = "(?im)"
"""Patterns ignore case, and `^` is the start of a line."""


def check_pattern(pattern: str) -> None:
    """Check that a regular expression can be searched in linear time.

    Raises:
        ConfigError: If it is not valid, or needs look-around or references to groups.
    """
    import duckdb

    try:
        with connect() as connection:
            connection.execute("SELECT regexp_matches('', $1)", [FLAGS + pattern]).fetchall()
    except (duckdb.Error, UnicodeError) as error:
        reason = str(error).partition(": ")[2].partition("\n")[0] or "it cannot be read"
        raise ConfigError(
            f"/{pattern:.100}/ is not a regular expression: {reason}",
            hint="Look-around and back references are not supported.",
        ) from error


def search_texts(pattern: str, texts: Sequence[str], *, most_s: float = MOST_S) -> list[int]:
    """Find the places of the texts that match a pattern.

    Raises:
        ConfigError: If the search takes longer than `most_s`.
    """
    query = (
        "SELECT place FROM (SELECT unnest($1::VARCHAR[]) AS text, "
        "unnest(range(len($1::VARCHAR[]))) AS place) "
        "WHERE regexp_matches(text, $2)"
    )
    given = [text.encode("utf-8", "backslashreplace").decode() for text in texts]
    with connect() as connection, limit_time(connection, pattern, most_s):
        return [
            place for (place,) in connection.execute(query, [given, FLAGS + pattern]).fetchall()
        ]


@contextmanager
def limit_time(
    connection: duckdb.DuckDBPyConnection, pattern: str, most_s: float = MOST_S
) -> Iterator[None]:
    """Interrupt the query of a connection that takes too long.

    Raises:
        ConfigError: If it was interrupted.
    """
    import duckdb

    is_over = threading.Event()

    def watch() -> None:
        pause_s = most_s
        while not is_over.wait(pause_s):  # an interruption before the query runs is lost
            connection.interrupt()
            pause_s = _AGAIN_S

    connection.execute("SET enable_progress_bar = false")
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise ConfigError(
            f"the search for /{pattern:.100}/ was stopped after {most_s:g} s",
            hint="Use a simpler pattern, or words.",
        ) from error
    finally:
        is_over.set()
        watcher.join()  # a connection that is closed must not be interrupted
