"""Judged runs started from the dashboard, one at a time."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.judge_state import JudgeState
from poor_bench.dashboard.services.judge_watcher import JudgeWatcher
from poor_bench.dashboard.services.own_run import OwnRun, Work
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError, RunCancelledError, RunRefusedError
from poor_bench.judge.agent_registry import AgentRegistry, load_agent_registry
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.run_plan import plan_usd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from poor_bench.judge.run_plan import JudgePlan, JudgeRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOrder:
    """A run request with its cost limit."""

    request: JudgeRequest
    max_cost_usd: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePreview:
    """Preview of a run."""

    plan: JudgePlan
    most_usd: float
    """Highest cost without repairs; 0.0 without prices."""


class JudgeService:
    """Starts, stops and shows runs of agents before their judges."""

    def __init__(
        self,
        data_dir: Callable[[], Path],
        busy: Callable[[], str] = lambda: "",
        open_runner: Callable[..., JudgeRunner] = JudgeRunner,
        clock: Callable[[], float] = monotonic,
        starting: threading.Lock | None = None,
    ) -> None:
        """Prepare without starting a run.

        Args:
            data_dir: Returns the folder of the workspace.
            busy: Returns what else is under way that asks LLMs; empty for nothing.
            open_runner: Opens a runner on a workspace.
            clock: Seconds since some fixed moment.
            starting: Held while something that asks LLMs starts; shared by all that do.
        """
        self._data_dir = data_dir
        self._busy = busy
        self._open_runner = open_runner
        self._clock = clock
        self._own_run = OwnRun(starting)
        self._watcher: JudgeWatcher | None = None
        self._cancelled = threading.Event()
        self._runner: JudgeRunner | None = None

    def shelf(self) -> AgentRegistry:
        """Load the agents and models of the workspace.

        Raises:
            ConfigError: With every problem of llms.json.
        """
        return load_agent_registry(self._data_dir())

    def preview(self, request: JudgeRequest) -> JudgePreview:
        """Plan a run and estimate its cost, without requests.

        Raises:
            ConfigError: If there is no such agent or judge, or a key is missing.
        """
        runner = self._open_runner(self._data_dir())
        try:
            plan = runner.plan(request)
        finally:
            runner.close()
        return JudgePreview(plan=plan, most_usd=plan_usd(plan))

    def start(self, order: JudgeOrder) -> JudgeState:
        """Start a run; starting again what is running already changes nothing.

        Raises:
            RunRefusedError: If something else asks LLMs, here or in another process.
        """
        self._own_run.start(order, self._require_nothing_else, partial(self._prepare, order))
        return self.state()

    def cancel(self) -> JudgeState:
        """Stop; what is finished is kept, and the run stays incomplete."""
        self._cancelled.set()
        runner = self._runner
        if runner is not None:
            runner.stop()
        return self.state()

    def state(self) -> JudgeState:
        """State of our active or last run."""
        watcher = self._watcher
        state = watcher.state() if watcher is not None else JudgeState()
        if state.is_active and self._cancelled.is_set():
            return replace(state, phase=RunPhase.STOPPING)
        return state

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until our run has ended."""
        self._own_run.wait(timeout_s)

    def _require_nothing_else(self) -> None:
        other = self._busy()
        if other:
            raise RunRefusedError(
                other, hint="Wait until it ends, or stop it where it was started."
            )

    def _prepare(self, order: JudgeOrder) -> Work:
        self._cancelled = threading.Event()
        self._watcher = JudgeWatcher(self._clock)
        return partial(self._work, order, self._watcher, self._cancelled)

    def _work(self, order: JudgeOrder, watcher: JudgeWatcher, cancelled: threading.Event) -> None:
        """Run; whatever ends the thread, the page learns that the run is over."""
        end = (
            RunPhase.BROKEN,
            "Internal error. The console that runs the dashboard shows the details.",
        )
        try:
            runner = self._open_runner(self._data_dir(), max_cost_usd=order.max_cost_usd)
            try:
                end = (RunPhase.FINISHED, self._run(runner, order, watcher, cancelled))
            finally:
                runner.close()
        except RunCancelledError:
            end = (RunPhase.CANCELLED, "")
        except PoorBenchError as error:
            end = (RunPhase.BROKEN, error_text(error))
        finally:
            watcher.end(*end)

    def _run(
        self,
        runner: JudgeRunner,
        order: JudgeOrder,
        watcher: JudgeWatcher,
        cancelled: threading.Event,
    ) -> str:
        """Run an order; return what is missing of it, empty for nothing."""
        plan = runner.plan(order.request)
        watcher.begin(plan)
        self._runner = runner
        if cancelled.is_set():
            raise RunCancelledError("the run was stopped")
        runner.run(plan, watcher)
        n_refused = runner.budget.n_refused
        if not n_refused:
            return ""
        return f"{n_refused} conversations and judgements skipped: cost limit."
