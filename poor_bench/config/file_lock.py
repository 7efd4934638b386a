"""Let one process at a time change a file of the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from poor_bench.errors import ConfigError

_WAIT_S = 30.0


@contextmanager
def locked_for_writing(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file in the meantime; reading needs no lock.

    Raises:
        ConfigError: If another process holds it for long, or the folder cannot be written.
    """
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=_WAIT_S)
    try:
        lock.acquire()
    except OSError as error:
        raise ConfigError(f"{path} cannot be locked for writing: {error}") from error
    try:
        yield
    finally:
        lock.release()
