"""The runner inside the dashboard: one run at a time, whoever looks; and what the last one left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from poor_bench.dashboard.services.computations import Kept
from poor_bench.dashboard.services.run_state import (
    LLMPhase,
    LLMProgress,
    RunPhase,
    RunState,
    RunWay,
)
from poor_bench.dashboard.services.run_watcher import ForeignRuns, RunWatcher
from poor_bench.dashboard.services.running import WAIT, OwnRun, Work, name_other_run
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError, RunRefusedError
from poor_bench.messages import write_count
from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.pool.control import RunControl
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore
from poor_bench.results.table import ResultTable
from poor_bench.runner.plan import Plan
from poor_bench.runner.selection import Selection
from poor_bench.runner.trial_states import TrialName
from poor_bench.runs.journal import read_header
from poor_bench.runs.turn import RunTurn
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        self._unfinished: Kept[RunState | None] = Kept(1)
        self._own_run = OwnRun(starting)
        self._watcher: RunWatcher | None = None
        self._control = RunControl()

    def start(self, selection: Selection, way: RunWay = RunWay.LIVE) -> RunState:
        """Start a run; starting again what is running already changes nothing.

        Args:
            selection: What is run or submitted.
            way: How it gets its answers.

        Raises:
            RunRefusedError: If another run is under way, here or in another process.
        """
        prepare = partial(self._prepare, selection, way)
        self._own_run.start((selection, way), self._require_nothing_else, prepare)
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
            raise RunRefusedError("no run to resume")
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
        """Wait until no run of ours is under way."""
        self._own_run.wait(timeout_s)

    def _prepare(self, selection: Selection, way: RunWay) -> Work:
        turn = self._take_turn()
        self._control = RunControl()
        # Only a live run can be resumed as it was.
        self._watcher = RunWatcher(self._clock, selection if way is RunWay.LIVE else None)
        work = partial(self._work, selection, way, self._watcher, self._control)
        return partial(_in_turn, turn, work)

    def _work(
        self, selection: Selection, way: RunWay, watcher: RunWatcher, control: RunControl
    ) -> None:
        """Run; whatever ends the thread, the page learns that the run is over."""
        end = (
            RunPhase.BROKEN,
            "Internal error: see the log.",
        )
        try:
            runner = self._open_runner()
            try:
                message = _RUN[way](runner, selection, watcher, control)
            finally:
                runner.close()
            end = (RunPhase.CANCELLED if control.cancelled() else RunPhase.FINISHED, message)
        except PoorBenchError as error:
            end = (RunPhase.BROKEN, error_text(error))
        finally:
            watcher.end(*end)

    def _require_nothing_else(self) -> None:
        if busy := self._busy():
            raise RunRefusedError(busy, hint=WAIT)
        other = self._foreign_run()
        if other is not None:
            raise RunRefusedError(name_other_run(other.run_id), hint=WAIT)

    def _take_turn(self) -> RunTurn | None:
        """Take the turn, for as long as the run lasts; None where the store cannot be opened."""
        try:
            turn = RunTurn(self._open_store().paths.history)
        except PoorBenchError:
            return None
        if not turn.take():
            raise RunRefusedError(name_other_run(), hint=WAIT)
        return turn

    def _foreign_run(self) -> RunState | None:
        try:
            return self._foreign_runs.state(self._open_store().paths)
        except PoorBenchError:
            return None

    def _find_unfinished(self) -> RunState | None:
        try:
            store = self._open_store()
            files = (*store.paths.runs(), *store.paths.journals())
            return self._unfinished.get(
                tuple(path.name for path in files), lambda: _find_unfinished(store)
            )
        except (PoorBenchError, OSError):
            return None


def _run_live(
    runner: WorkspaceRunner, selection: Selection, watcher: RunWatcher, control: RunControl
) -> str:
    runner.run(runner.plan(selection), watcher, control)
    return ""


def _submit(
    runner: WorkspaceRunner, selection: Selection, _watcher: RunWatcher, control: RunControl
) -> str:
    """Submit trials as batches; say what was submitted, and what was not and why."""
    plan = runner.plan(selection)
    runner.scorer.require_judges(plan.tests())
    done = runner.batches.submit(plan, cancelled=control.cancelled)
    n_live = sum(done.unbatched.values())
    said = [f"{write_count(done.n_submitted, 'trial')} in a batch."]
    without = ", ".join(sorted(done.unbatched))
    said += [f"{write_count(n_live, 'trial')} pending, no batch API: {without}."] if n_live else []
    said += [f"{problem}." for problem in done.problems]
    return " ".join(said)


def _collect(
    runner: WorkspaceRunner, _selection: Selection, watcher: RunWatcher, control: RunControl
) -> str:
    """Collect the answers of batches; say how many, and how many are awaited."""
    found = runner.collect_batches(watcher, control)
    n_awaited = sum(len(view.note.items) for view in found.waiting)
    said = [f"Collected {write_count(found.n_batches, 'batch')}."]
    said += [f"{write_count(n_awaited, 'trial')} in a batch."] if n_awaited else []
    said += [f"{problem}." for problem in found.problems]
    return " ".join(said)


_RUN = {RunWay.LIVE: _run_live, RunWay.BATCH: _submit, RunWay.COLLECT: _collect}


def _in_turn(turn: RunTurn | None, work: Work) -> None:
    """Do the work of a run, and let other processes have the turn after it."""
    try:
        work()
    finally:
        if turn is not None:
            turn.give_back()


def _find_unfinished(store: ResultStore) -> RunState | None:
    """Describe the newest run; None if it reached all its trials, or nobody knows which."""
    path, header = _find_newest(store.paths)
    selection = Selection.from_json(header.get("choice"))
    if path is None or selection is None:
        return None
    table = store.table()
    of_run = table.find_entries("run_id", lambda value: value == path.stem)
    llms = tuple(_count(table, of_run, *planned) for planned in header["llms"].items())
    state = RunState(phase=RunPhase.INTERRUPTED, run_id=path.stem, llms=llms, selection=selection)
    return state if state.n_done < state.n_items else None


def _find_newest(paths: StorePaths) -> tuple[Path | None, Mapping[str, Any]]:
    """Find the newest run that asked LLMs, with its header."""
    files = sorted((*paths.runs(), *paths.journals()), key=lambda path: path.stem)
    for path in reversed(files):
        header = read_header(path)
        if isinstance(header.get("llms"), dict):
            return path, header
    return None, {}


def _count(table: ResultTable, of_run: NDArray[np.bool_], llm_id: str, n_items: int) -> LLMProgress:
    rows = of_run & table.find_entries("llm_id", lambda value: value == llm_id)
    is_failed = table.find_entries("failure_kind", lambda kind: kind not in _NOT_FAILED)
    scores = table.columns["score"][rows & table.is_scored]
    n_failed = int((rows & is_failed).sum())
    is_complete = len(scores) + n_failed >= n_items
    return LLMProgress(
        llm_id=llm_id,
        n_items=n_items,
        phase=LLMPhase.FINISHED if is_complete else LLMPhase.INTERRUPTED,
        n_scored=len(scores),
        n_failed=n_failed,
        score_sum=float(scores.sum()),
    )


_NOT_FAILED = (None, WAITS_FOR_JUDGE.kind)


def select_rest(selection: Selection, plan: Plan, table: ResultTable, run_id: str) -> Selection:
    """Select what a run has not completed, with the same options.

    A run of pending trials is its own rest: what it completed is not pending any more. A run that
    repeats completed trials must not repeat its own.

    Args:
        selection: Of the run.
        plan: What the whole selection asks now.
        table: The stored results.
        run_id: Of the run.
    """
    if not selection.force and selection.only is None:
        return selection
    planned = {
        TrialName(item.llm.id, item.test.test_id, item.trial)
        for work in plan.works
        for item in work.items()
    }
    rest = planned - _find_completed(table, run_id)
    return replace(selection, force=False, only=frozenset(rest))


def _find_completed(table: ResultTable, run_id: str) -> set[TrialName]:
    is_completed = table.find_entries("run_id", lambda value: value == run_id) & table.is_scored
    rows = np.flatnonzero(is_completed).tolist()
    return {TrialName(table.value("llm_id", row), *table.key(row)[:2]) for row in rows}
