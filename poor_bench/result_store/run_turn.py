"""Who may run the tests of a workspace: one process at a time."""

from __future__ import annotations

from filelock import FileLock, Timeout

from poor_bench.result_store.journal import newest_owned
from poor_bench.result_store.os_errors import os_errors_told
from poor_bench.result_store.paths import StorePaths


class RunTurn:
    """The turn to run tests; it ends with its process at the latest."""

    def __init__(self, paths: StorePaths) -> None:
        self._paths = paths
        self._lock = FileLock(paths.run_lock, thread_local=False)

    def take(self) -> bool:
        """Take the turn if nobody has it and no run is under way; return whether it is ours.

        Raises:
            StoreError: If the system refuses anything.
        """
        with os_errors_told(self._paths.run_lock):
            self._paths.journal_dir.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
            if newest_owned(self._paths.journals()) is not None:
                self._lock.release()
                return False
            return True

    def give_back(self) -> None:
        """Let the next one have it; does nothing where it is not ours."""
        self._lock.release()

    def other_run(self) -> str:
        """Return what to call the run that is in the way, such as `the run 20261122T1200`."""
        journal = newest_owned(self._paths.journals())
        return f"the run {journal.stem}" if journal else "a run"
