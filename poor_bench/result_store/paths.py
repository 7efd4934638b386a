"""Where results stand in a workspace."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

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
