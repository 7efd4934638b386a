"""Who may rewrite the snapshot: one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from poor_bench.errors import StoreError
from poor_bench.result_store.paths import StorePaths
from poor_bench.safe_files import os_errors_told

LONGEST_WAIT_S = 60.0


@contextmanager
def snapshot_locked(paths: StorePaths) -> Iterator[None]:
    """Hold the right to rewrite the snapshot.

    Raises:
        StoreError: If another process does not give it back, or the system refuses anything.
    """
    with os_errors_told(paths.snapshot):
        paths.journal_dir.mkdir(parents=True, exist_ok=True)
        lock = FileLock(paths.merge_lock)
        try:
            lock.acquire(timeout=LONGEST_WAIT_S)
        except Timeout as error:
            raise StoreError(
                f"{paths.snapshot}: another process has been rewriting it for "
                f"{LONGEST_WAIT_S:.0f} s",
                hint="Nothing is lost: the results are in the journal; try again later.",
            ) from error
        try:
            yield
        finally:
            lock.release()
