"""Regular expressions over many texts: in linear time, by RE2 within DuckDB, with an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    import duckdb

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
        with duckdb.connect() as connection:
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
    import duckdb

    query = (
        "SELECT place FROM (SELECT unnest($1::VARCHAR[]) AS text, "
        "unnest(range(len($1::VARCHAR[]))) AS place) "
        "WHERE regexp_matches(text, $2)"
    )
    given = [text.encode("utf-8", "backslashreplace").decode() for text in texts]
    with duckdb.connect() as connection, ended(connection, pattern, most_s):
        return [
            place for (place,) in connection.execute(query, [given, FLAGS + pattern]).fetchall()
        ]


@contextmanager
def ended(
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
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise ConfigError(
            f"the search for /{pattern:.100}/ was stopped after {most_s:g} s",
            hint="Use a simpler pattern, or words.",
        ) from error
    finally:
        is_over.set()
