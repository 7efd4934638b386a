"""Runs of every kind that are running, in this process or another one, and how far they are."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.errors import PoorBenchError
from poor_bench.results.paths import TEST_RUNS
from poor_bench.run_kinds import find_running
from poor_bench.runs.history import RunFollower, RunProgress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRun:
    """One run that is running."""

    run_id: str
    kind: str
    what: str
    progress: RunProgress


class RunningRuns:
    """Follows them by their journals, of which each line is read once; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._followers: dict[Path, RunFollower] = {}

    def runs(self) -> list[RunningRun]:
        """List them, the newest last, without runs of tests, which page Run shows in detail."""
        try:
            running = find_running(self._data_dir())
        except PoorBenchError:
            return []
        with self._lock:
            known, self._followers = self._followers, {}
            shown = []
            for history, run in running:
                if history.kind is TEST_RUNS:
                    continue
                follower = known.get(run.path) or RunFollower(history.kind, run)
                self._followers[run.path] = follower
                shown.append(
                    RunningRun(
                        run_id=run.run_id,
                        kind=history.kind.name,
                        what=history.kind.describe(run.header),
                        progress=follower.progress(),
                    )
                )
            return shown

    def version(self) -> str:
        """Text that changes whenever one starts, moves or ends."""
        return " ".join(f"{run.run_id}:{run.progress.n_done}" for run in self.runs())
