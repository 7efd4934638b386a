"""Results that newer ones replaced: kept in the files of runs, and found there."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from poor_bench.models.result import Result, record_to_result
from poor_bench.results.paths import StorePaths
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import JournalWriter, find_owner_lock, read_journal
from poor_bench.safe_files import open_regular, tell_os_errors

_MOST_RUNS, _MOST_RESULTS = 500, 20


def find_earlier(
    paths: StorePaths, resolve: Callable[[str], str], llm_id: str, test_id: str
) -> list[Result]:
    """Find the stored results of a model for a test, of all trials, newest first.

    Only lines that name the test are parsed, so memory does not grow with what is stored. At most
    500 runs are searched, newest first.

    Raises:
        StoreError: If a file cannot be read.
    """
    files = heapq.nlargest(
        _MOST_RUNS, {*paths.runs(), *paths.list_unmerged()}, key=lambda path: path.stem
    )
    found: list[Result] = []
    for path in files:
        of_run = [each for each in _read(path, test_id, resolve) if each.llm_id == llm_id]
        found += reversed(of_run)
        if len(found) >= _MOST_RESULTS:
            break
    return found[:_MOST_RESULTS]


def _read(path: Path, test_id: str, resolve: Callable[[str], str]) -> Iterator[Result]:
    needle = b'"test_id":' + orjson.dumps(test_id)
    with tell_os_errors(path), open_regular(path) as stream:
        for line in stream:
            if needle in line:
                yield from _parse(line, test_id, resolve)


def _parse(line: bytes, test_id: str, resolve: Callable[[str], str]) -> Iterator[Result]:
    for _, record in read_journal([line], lambda _number: None):
        if record.get("test_id") != test_id:
            continue
        try:
            yield record_to_result(resolve(str(record["llm_id"])), record)
        except (ValueError, TypeError, KeyError):
            continue  # a damaged row; who reads all results tells of it


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
            find_owner_lock(self._path).unlink(missing_ok=True)
