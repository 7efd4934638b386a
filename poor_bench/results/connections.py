"""Connections to DuckDB: starting an instance takes 25 ms of CPU, a connection to one nothing."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MANY_BYTES = 1_000_000
"""Size of the results from which on they get an instance of their own: all of its memory goes back
to the system at the end, and several threads no longer cost more than they do."""
_CONFIG = {
    "temp_directory": tempfile.gettempdir(),
    "allocator_flush_threshold": "1MB",  # else freed memory of loading stays with us
    "allocator_bulk_deallocation_flush_threshold": "1MB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_LOCK = threading.Lock()
_NUMBERS = itertools.count(1)
_LEFT: deque[str] = deque()
"""Databases whose owners are gone."""
_INSTANCES: list[DuckDBPyConnection] = []
"""The one that small databases share, once there is one."""


def connect() -> DuckDBPyConnection:
    """Connect to the instance that is shared; for queries that need no table."""
    with _LOCK:
        return _share().cursor()


def open_database(
    owner: object, *, is_large: bool
) -> tuple[DuckDBPyConnection, DuckDBPyConnection]:
    """Open a database in memory.

    Args:
        owner: As long as it is there, so is the database.
        is_large: True if it is to hold much.

    Returns:
        A connection to change it, and one to read it meanwhile.
    """
    if is_large:
        instance = _start(min(4, os.cpu_count() or 1))
        return instance, instance.cursor()
    with _LOCK:
        name = _attach()
        both = _INSTANCES[0].cursor(), _INSTANCES[0].cursor()
    # Owners may go at any time, also while this thread is inside DuckDB.
    weakref.finalize(owner, _LEFT.append, name).atexit = False
    for connection in both:
        connection.execute(f"USE {name}")
    return both


def _attach() -> str:
    import duckdb

    name = f"store_{next(_NUMBERS)}"
    try:
        _share().execute(f"ATTACH ':memory:' AS {name}")
    except duckdb.Error:  # after an error within DuckDB, an instance answers no more
        _INSTANCES.clear()
        _share().execute(f"ATTACH ':memory:' AS {name}")
    return name


def _share() -> DuckDBPyConnection:
    if not _INSTANCES:
        _LEFT.clear()
        _INSTANCES.append(_start(1))
    while _LEFT:
        _INSTANCES[0].execute(f"DETACH DATABASE IF EXISTS {_LEFT.popleft()}")
    return _INSTANCES[0]


def _start(n_threads: int) -> DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"threads": n_threads, **_CONFIG})
