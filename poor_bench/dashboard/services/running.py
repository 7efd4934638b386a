"""Runs under way: the one of a kind that this process may have, and all of any process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

from poor_bench.errors import PoorBenchError, RunRefusedError
from poor_bench.results.paths import TEST_RUNS
from poor_bench.run_kinds import find_running
from poor_bench.runs.history import RunFollower, RunProgress

Work = Callable[[], None]
WAIT = "Wait, or cancel it."
"""What to do while another run is in progress."""


def name_other_run(name: str = "") -> str:
    """Say why nothing can start, with the name of the run in progress if it is known."""
    return f"another run is in progress: {name}" if name else "another run is in progress"


class OwnRun:
    """Owns the thread of the run; it goes on whether a browser is open or not."""

    def __init__(self, starting: threading.Lock | None = None) -> None:
        """Start nothing yet.

        Args:
            starting: Held while something that asks LLMs starts; shared by all that do.
        """
        self._lock = starting or threading.Lock()
        self._thread: threading.Thread | None = None
        self._order: Hashable = None

    def start(
        self, order: Hashable, require_nothing_else: Callable[[], None], prepare: Callable[[], Work]
    ) -> None:
        """Start a run; starting again what is running already changes nothing.

        Args:
            order: What is to be run.
            require_nothing_else: Raises RunRefusedError while other runs ask LLMs.
            prepare: Makes ready for a new run, and returns what its thread does.

        Raises:
            RunRefusedError: If another run is in progress.
        """
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                require_nothing_else()
                self._order = order
                self._thread = threading.Thread(target=prepare(), daemon=True)
                self._thread.start()
            elif order != self._order:
                raise RunRefusedError(name_other_run(), hint=WAIT)

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until the run is over."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)


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
