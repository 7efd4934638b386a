"""Who may run the tests of a workspace: one process at a time."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from poor_bench.runs.journal import newest_owned
from poor_bench.safe_files import os_errors_told


class RunTurn:
    """The turn to run tests; it ends with its process at the latest."""

    def __init__(self, journal_dir: Path) -> None:
        self._journal_dir = journal_dir
        self._lock = FileLock(journal_dir / "run.lock", thread_local=False)

    def take(self) -> bool:
        """Take the turn if nobody has it and nothing runs; return True if it is ours.

        Raises:
            StoreError: If the system refuses anything.
        """
        with os_errors_told(self._journal_dir):
            self._journal_dir.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
            if self._other_journal() is not None:
                self._lock.release()
                return False
            return True

    def give_back(self) -> None:
        """Let the next one have it; does nothing where it is not ours."""
        self._lock.release()

    def other_run(self) -> str:
        """Name the run that is in the way, such as `the run 20261122T1200`."""
        journal = self._other_journal()
        return f"the run {journal.stem}" if journal else "a run"

    def _other_journal(self) -> Path | None:
        return newest_owned(sorted(self._journal_dir.glob("*.jsonl")))
