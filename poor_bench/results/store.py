"""The results of a workspace: read them, append to them, keep the file in order."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poor_bench.models.result import Result, record_to_result
from poor_bench.results.merge import MergedView
from poor_bench.results.paths import StorePaths, paths_in, snapshot_locked
from poor_bench.results.snapshot import write_snapshot
from poor_bench.results.tail import JournalTail
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import JournalWriter, left_over, owner_lock_path
from poor_bench.safe_files import os_errors_told


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


_LOG = logging.getLogger(__name__)


class ResultStore:
    """Snapshot plus journals of one workspace; any number of processes may use it at once."""

    def __init__(
        self, paths: StorePaths, resolve: Callable[[str], str] = lambda llm_id: llm_id
    ) -> None:
        """Open a store; nothing is read or written yet.

        Args:
            paths: Where it stands.
            resolve: Maps an LLM id of a file to the one in use, for ids that older tools wrote.
        """
        self.paths = paths
        self._resolve = resolve

    def open_run(self, run_id: str, header: Mapping[str, Any]) -> JournalWriter:
        """Start the journal of a run.

        Args:
            run_id: Unique, sorts by time, usable as a file name.
            header: What is to be known of the run as a whole.

        Raises:
            StoreError: If it cannot be written.
        """
        path = self.paths.journal_dir / f"{run_id}.jsonl"
        return JournalWriter(path, {"run_id": run_id, **header})

    def newest_run_id(self) -> str:
        """Return the id of the newest run, be it merged or not; empty where there is none."""
        return max((path.stem for path in (*self.paths.journals(), *self.paths.runs())), default="")

    def results(self) -> Iterator[Result]:
        """Yield the newest score and the newest unsettled failure of every trial.

        Unreadable rows are left out and logged.

        Raises:
            StoreError: If the snapshot is damaged or cannot be read.
        """
        snapshot = self.paths.snapshot
        with os_errors_told(snapshot), self._view() as view, _without_collector():
            for row in view.rows():
                try:
                    yield record_to_result(self._resolve(row.llm_id), row.record)
                except (ValueError, TypeError, KeyError) as error:
                    _LOG.warning("%s: a row of %s: %s", snapshot, row.llm_id, error)

    def merge(self) -> int:
        """Bring the journals that nobody writes to any more into the snapshot.

        Returns:
            How many journals were merged.

        Raises:
            StoreError: If the snapshot is damaged or cannot be written; the journals stay.
        """
        if not self.paths.journals():
            return 0
        with snapshot_locked(self.paths):
            return self._merge_left_over()

    def add(self, results: Iterable[Result], run_id: str, header: Mapping[str, Any]) -> None:
        """Store results that exist already, as a run of their own, and merge it.

        Raises:
            StoreError: If they could not be stored.
        """
        journal = self.open_run(run_id, header)
        try:
            for result in results:
                journal.append(result)
        finally:
            journal.close()
        self.merge()

    def fingerprint(self) -> tuple[tuple[str, int, int], ...]:
        """Return what changes whenever a result is added: name, size and time of every file."""
        files = [self.paths.snapshot, *self.paths.journals()]
        return tuple(
            (path.name, status.st_size, status.st_mtime_ns)
            for path in files
            if (status := _status(path)) is not None
        )

    def tail(self) -> JournalTail:
        """Return what follows the results from here on without reading all of them again."""
        return JournalTail(self.paths, self._resolve)

    def _merge_left_over(self) -> int:
        """Merge what nobody writes to; that is settled first, so that no late row is missed."""
        journals = left_over(self.paths.journals())
        if not journals:
            return 0
        with self._view() as view, _without_collector():
            write_snapshot(self.paths.snapshot, view.extras(), view.rows())
        self.paths.runs_dir.mkdir(exist_ok=True)
        for path in journals:
            path.replace(self.paths.runs_dir / path.name)
            owner_lock_path(path).unlink(missing_ok=True)
        return len(journals)

    def _view(self) -> MergedView:
        return MergedView(self.paths, self._resolve, _log_damage)


def open_store(
    data_dir: Path, resolve: Callable[[str], str] = lambda llm_id: llm_id
) -> ResultStore:
    """Return the store of a workspace."""
    return ResultStore(paths_in(data_dir), resolve)


def _log_damage(path: Path, line: int) -> None:
    _LOG.warning("%s:%d is not readable and was skipped", path, line)


def _status(path: Path) -> Any:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the cyclic garbage collector out of big loads, where it costs over half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
