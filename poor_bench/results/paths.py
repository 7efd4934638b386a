"""Where results stand in a workspace, and who may rewrite the results file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from poor_bench.errors import StoreError
from poor_bench.safe_files import os_errors_told

SNAPSHOT_NAMES = ("results.json", "benchmark_results.json")
"""File names of the snapshot, the preferred one first; the second is an older tool's."""


@dataclass(frozen=True, slots=True)
class StorePaths:
    """Files and folders of one store.

    ```
    results.json              snapshot: the newest result of every trial
    journal/<run id>.jsonl    results of runs that are not yet in the snapshot
    runs/<run id>.jsonl       the same files once they are in it: the history of runs
    ```
    """

    snapshot: Path

    @property
    def journal_dir(self) -> Path:
        """Folder of the journals."""
        return self.snapshot.parent / "journal"

    @property
    def runs_dir(self) -> Path:
        """Folder of the finished runs."""
        return self.snapshot.parent / "runs"

    @property
    def merge_lock(self) -> Path:
        """Held by whoever rewrites the snapshot."""
        return self.journal_dir / "merge.lock"

    def journals(self) -> list[Path]:
        """Return the journals, oldest first (run ids sort by time)."""
        return sorted(self.journal_dir.glob("*.jsonl"))

    def runs(self) -> list[Path]:
        """Return the finished runs, oldest first."""
        return sorted(self.runs_dir.glob("*.jsonl"))


def paths_in(data_dir: Path) -> StorePaths:
    """Return the store of a workspace; `$POOR_BENCH_RESULTS` names another results file."""
    chosen = os.environ.get("POOR_BENCH_RESULTS")
    if chosen:
        return StorePaths(Path(chosen))
    candidates = [data_dir / name for name in SNAPSHOT_NAMES]
    existing = [path for path in candidates if path.exists()]
    return StorePaths(existing[0] if existing else candidates[0])


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
