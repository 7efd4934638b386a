"""What a run with new scores of old responses replaces: kept as a run of its own."""

from __future__ import annotations

import threading

from poor_bench.models.result import Result
from poor_bench.results.paths import StorePaths
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import JournalWriter, owner_lock_path


class EarlierScores:
    """Keeps each result right before a new score replaces it; called from several threads.

    The kept run is written straight into the folder of finished runs: it never enters the snapshot.
    A process that is killed leaves it complete for every score that was replaced.
    """

    def __init__(self, paths: StorePaths, run_id: str, *, replaced_by: str, started: str) -> None:
        """Write nothing yet; a run that replaces nothing leaves no file.

        Args:
            paths: The store.
            run_id: Of the kept run; sorts right before `replaced_by`.
            replaced_by: Id of the run with the new scores.
            started: When that run began, ISO 8601.
        """
        self._path = paths.runs_dir / f"{run_id}.jsonl"
        self._header = {
            "run_id": run_id,
            "started": started,
            "kind": EARLIER,
            "replaced_by": replaced_by,
        }
        self._lock = threading.Lock()
        self._writer: JournalWriter | None = None

    def keep(self, result: Result) -> None:
        """Store a result that is about to be replaced.

        Raises:
            StoreError: If it could not be stored; it must not be replaced then.
        """
        with self._lock:
            if self._writer is None:
                self._writer = JournalWriter(self._path, self._header)
        self._writer.append(result)

    def close(self) -> None:
        """Bring everything to the disk; call it before the new scores are merged.

        Raises:
            StoreError: If the disk did not take it.
        """
        if self._writer is not None:
            self._writer.close()
            owner_lock_path(self._path).unlink(missing_ok=True)
