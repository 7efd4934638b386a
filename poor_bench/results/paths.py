"""Where results stand in a workspace, and who may rewrite the results file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from poor_bench.errors import StoreError
from poor_bench.runs.history import RunHistory, RunKind
from poor_bench.safe_files import tell_os_errors

SNAPSHOT_NAMES = ("results.json", "benchmark_results.json")
"""File names of the snapshot, the preferred one first; the second is an older tool's."""
TEST_RUNS = RunKind(
    name="run",
    folders=("journal", "sealed", "runs"),
    kept_folder="sealed",
    command="run",
    row_keys=frozenset({"test_id"}),
    count_planned=lambda header: sum((header.get("llms") or {}).values()) or header.get("n_items"),
    describe=lambda header: ", ".join(header.get("llms") or ()) or str(header.get("kind", "")),
)


@dataclass(frozen=True, slots=True)
class StorePaths:
    """Files and folders of one store.

    ```
    results.json              snapshot: the newest result of every trial
    journal/<run id>.jsonl    results of runs that go on, or ended without being closed
    sealed/<run id>.jsonl     closed runs that are not in the snapshot, as results are many
    runs/<run id>.jsonl       closed runs that are in the snapshot
    batches/                  notes about batches at providers that were not collected yet
    index/                    the same in columns; may be deleted at any time
    ```
    """

    snapshot: Path

    @property
    def history(self) -> RunHistory:
        """The runs of tests."""
        return RunHistory(self.snapshot.parent, TEST_RUNS)

    @property
    def journal_dir(self) -> Path:
        """Folder of the journals."""
        return self.snapshot.parent / "journal"

    @property
    def runs_dir(self) -> Path:
        """Folder of the finished runs."""
        return self.snapshot.parent / "runs"

    @property
    def batches_dir(self) -> Path:
        """Folder of the notes about batches; see `poor_bench.runs.batch_notes`."""
        return self.snapshot.parent / "batches"

    @property
    def sealed_dir(self) -> Path:
        """Folder of the finished runs that are not in the snapshot."""
        return self.snapshot.parent / "sealed"

    @property
    def merge_lock(self) -> Path:
        """Held by whoever rewrites the snapshot."""
        return self.journal_dir / "merge.lock"

    def journals(self) -> list[Path]:
        """List the journals, oldest first (run ids sort by time)."""
        return sorted(self.journal_dir.glob("*.jsonl"))

    def list_sealed(self) -> list[Path]:
        """List the finished runs that are not in the snapshot, oldest first."""
        return sorted(self.sealed_dir.glob("*.jsonl"))

    def list_unmerged(self) -> list[Path]:
        """List the runs that are not in the snapshot, oldest first."""
        return sorted((*self.list_sealed(), *self.journals()), key=lambda path: path.stem)

    def runs(self) -> list[Path]:
        """List the finished runs, oldest first."""
        finished = (*self.runs_dir.glob("*.jsonl"), *self.list_sealed())
        return sorted(finished, key=lambda path: path.stem)

    def run_file(self, run_id: str) -> Path | None:
        """Find the file of a run, wherever it stands now; None if it is gone."""
        folders = (self.journal_dir, self.sealed_dir, self.runs_dir)
        files = (folder / f"{run_id}.jsonl" for folder in folders)
        return next((path for path in files if path.exists()), None)

    def find_runs(self, run_ids: Iterable[str]) -> dict[str, Path]:
        """Find the files of those of some runs that are not gone."""
        return {name: path for name in run_ids if (path := self.run_file(name)) is not None}

    def fingerprint(self) -> tuple[tuple[str, int, int], ...]:
        """Collect what changes whenever a result is added: name, size and time of every file."""
        return tuple(
            (path.name, status.st_size, status.st_mtime_ns)
            for path in (self.snapshot, *self.list_unmerged())
            if (status := _status(path)) is not None
        )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def paths_in(data_dir: Path) -> StorePaths:
    """Find the store of a workspace; `$POOR_BENCH_RESULTS` names another results file."""
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
    from filelock import FileLock, Timeout

    with tell_os_errors(paths.snapshot):
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
