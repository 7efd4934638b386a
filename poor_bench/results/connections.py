"""Connections to DuckDB, and what it reads: starting an instance takes 25 ms of CPU."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MANY_BYTES = 1_000_000
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


def open_database(owner: object, n_bytes: int) -> tuple[DuckDBPyConnection, DuckDBPyConnection]:
    """Open a database in memory.

    Args:
        owner: As long as it is there, so is the database.
        n_bytes: Size of what it is to hold.

    Returns:
        A connection to change it, and one to read it meanwhile.
    """
    if n_bytes >= _MANY_BYTES:
        instance = _start(min(4, os.cpu_count() or 1))
        return instance, instance.cursor()
    name = f"store_{next(_NUMBERS)}"
    with _LOCK:
        shared = _share()
        shared.execute(f"ATTACH ':memory:' AS {name}")
        both = shared.cursor(), shared.cursor()
    # Owners may go at any time, also while this thread is inside DuckDB.
    weakref.finalize(owner, _LEFT.append, name).atexit = False
    for connection in both:
        connection.execute(f"USE {name}")
    return both


def is_of_database(error: Exception) -> bool:
    """True for errors of DuckDB; where it was never loaded, there are none."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(error, duckdb.Error)


def _share() -> DuckDBPyConnection:
    import duckdb

    try:
        _INSTANCES[0].execute("SELECT 1")
    except (IndexError, duckdb.Error):  # after an error within DuckDB, an instance answers no more
        _INSTANCES[:] = [_start(1)]
    while _LEFT:
        _INSTANCES[0].execute(f"DETACH DATABASE IF EXISTS {_LEFT.popleft()}")
    return _INSTANCES[0]


def _start(n_threads: int) -> DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"threads": n_threads, **_CONFIG})


@contextmanager
def as_file(lines: Sequence[bytes]) -> Iterator[str]:
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
