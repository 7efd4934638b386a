"""The runner inside the dashboard: one run at a time, whoever looks."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.own_run import OwnRun, Work
from poor_bench.dashboard.services.run_state import RunPhase, RunState
from poor_bench.dashboard.services.run_watcher import ForeignRuns, RunWatcher
from poor_bench.dashboard.services.unfinished_run import UnfinishedRun, select_rest
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError, RunRefusedError
from poor_bench.pool.control import RunControl
from poor_bench.runs.turn import RunTurn

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from poor_bench.results.store import ResultStore
    from poor_bench.runner.selection import Selection
    from poor_bench.workspace_runner import WorkspaceRunner

_WAIT = "Wait until it ends, or stop it where it was started."


class RunService:
    """Starts, steers and shows runs of tests."""

    def __init__(
        self,
        open_runner: Callable[[], WorkspaceRunner],
        open_store: Callable[[], ResultStore],
        clock: Callable[[], float] = monotonic,
        busy: Callable[[], str] = lambda: "",
        starting: threading.Lock | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            open_runner: Opens a runner on the workspace as it is now.
            open_store: Returns the store, to see the runs of other processes.
            clock: Seconds since some fixed moment.
            busy: Returns what else is under way that asks LLMs; empty for nothing.
            starting: Held while something that asks LLMs starts; shared by all that do.
        """
        self._busy = busy
        self._open_runner = open_runner
        self._open_store = open_store
        self._clock = clock
        self._foreign_runs = ForeignRuns()
        self._last_run = UnfinishedRun()
        self._own_run = OwnRun(starting)
        self._watcher: RunWatcher | None = None
        self._control = RunControl()

    def start(self, selection: Selection) -> RunState:
        """Start a run; starting again what is running already changes nothing.

        Raises:
            RunRefusedError: If another run is under way, here or in another process.
        """
        self._own_run.start(
            selection, self._require_nothing_else, partial(self._prepare, selection)
        )
        return self.state()

    def pause(self) -> RunState:
        """Start nothing new until `resume`; requests under way go on."""
        self._control.pause()
        return self.state()

    def resume(self) -> RunState:
        """Go on after `pause`."""
        self._control.resume()
        return self.state()

    def find_rest(self) -> Selection:
        """Select what the run that stopped last has not completed, with the same options.

        Raises:
            RunRefusedError: If no run can be continued.
            ConfigError: If the workspace is not valid or a filter matches nothing any more.
            StoreError: If the results cannot be read.
        """
        stopped = self.state()
        if not stopped.can_continue or stopped.selection is None:
            raise RunRefusedError("no stopped run can be continued", hint="Start a new run.")
        table = self._open_store().table()
        with closing(self._open_runner()) as runner:
            plan = stopped.selection.plan(runner.states(stopped.selection))
            return select_rest(stopped.selection, plan, table, stopped.run_id)

    def cancel(self) -> RunState:
        """Stop; what is finished is kept, the rest stays pending."""
        self._control.cancel()
        return self.state()

    def state(self) -> RunState:
        """Describe the progress of our run, else of another process's, else of our last one.

        Before our first run, the newest stored one counts as the last one if it is not complete.
        """
        watcher = self._watcher
        own = watcher.state() if watcher is not None else RunState()
        if own.phase is RunPhase.RUNNING:
            if self._control.cancelled():
                return replace(own, phase=RunPhase.STOPPING)
            return replace(own, phase=RunPhase.PAUSED) if self._control.is_paused() else own
        if own.is_active:
            return own
        other = self._foreign_run()
        if other is None and own.phase is RunPhase.IDLE:
            other = self._find_unfinished()
        return other or own

    def wait(self, timeout_s: float | None = None) -> None:
        """Return as soon as no run of ours is under way."""
        self._own_run.wait(timeout_s)

    def _prepare(self, selection: Selection) -> Work:
        turn = self._take_turn()
        self._control = RunControl()
        self._watcher = RunWatcher(self._clock, selection)
        work = partial(self._work, selection, self._watcher, self._control)
        return partial(_in_turn, turn, work)

    def _work(self, selection: Selection, watcher: RunWatcher, control: RunControl) -> None:
        """Run; whatever ends the thread, the page learns that the run is over."""
        end = (
            RunPhase.BROKEN,
            "Internal error. The console that runs the dashboard shows the details.",
        )
        try:
            runner = self._open_runner()
            try:
                finished = runner.run(runner.plan(selection), watcher, control)
            finally:
                runner.close()
            end = (RunPhase.CANCELLED if finished.cancelled else RunPhase.FINISHED, "")
        except PoorBenchError as error:
            end = (RunPhase.BROKEN, error_text(error))
        finally:
            watcher.end(*end)

    def _require_nothing_else(self) -> None:
        if busy := self._busy():
            raise RunRefusedError(busy, hint="Wait until it ends.")
        other = self._foreign_run()
        if other is not None:
            raise RunRefusedError(
                f"the run {other.run_id} of another process is in progress",
                hint=_WAIT,
            )

    def _take_turn(self) -> RunTurn | None:
        """Take the turn, for as long as the run lasts; None where the store cannot be opened."""
        try:
            turn = RunTurn(self._open_store().paths.history)
        except PoorBenchError:
            return None
        if not turn.take():
            raise RunRefusedError(
                f"{turn.other_run()} of another process is in progress", hint=_WAIT
            )
        return turn

    def _foreign_run(self) -> RunState | None:
        try:
            return self._foreign_runs.state(self._open_store().paths)
        except PoorBenchError:
            return None

    def _find_unfinished(self) -> RunState | None:
        try:
            return self._last_run.find_unfinished(self._open_store())
        except (PoorBenchError, OSError):
            return None


def _in_turn(turn: RunTurn | None, work: Work) -> None:
    """Do the work of a run, and let other processes have the turn after it."""
    try:
        work()
    finally:
        if turn is not None:
            turn.give_back()
