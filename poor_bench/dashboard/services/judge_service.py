"""Judged runs started from the dashboard, one at a time, and how far they are."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.run_state import ACTIVE_PHASES, RunPhase
from poor_bench.dashboard.services.running import OwnRun, Work
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError, RunCancelledError, RunRefusedError
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.judged_run import AgentEvent, ConversationHeld, JudgementMade
from poor_bench.judge.registry import AgentRegistry, load_agent_registry
from poor_bench.judge.report_text import event_text
from poor_bench.judge.run_plan import estimate_plan_usd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from poor_bench.judge.run_plan import JudgePlan, JudgeRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeState:
    """State of a run at one moment."""

    phase: RunPhase = RunPhase.IDLE
    agent_name: str = ""
    n_steps: int = 0
    """Conversations and judgements of the run."""
    n_done: int = 0
    events: tuple[str, ...] = ()
    """Latest events, newest first; may quote models."""
    cost_usd: float | None = None
    """Of everything so far; None where no price is known."""
    elapsed_s: float = 0.0
    message: str = ""
    """Why it could not go on, or what is missing."""

    @property
    def is_active(self) -> bool:
        """True while the run is active."""
        return self.phase in ACTIVE_PHASES


_KEPT_EVENTS = 8


class JudgeWatcher:
    """Listens to one run; `state` is thread-safe."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._started = monotonic()
        self._ended: float | None = None
        self._lock = threading.Lock()
        self._state = JudgeState(phase=RunPhase.STARTING)

    def __call__(self, event: AgentEvent) -> None:
        """Take one event."""
        with self._lock:
            before = self._state
            events = (event_text(event), *before.events)[:_KEPT_EVENTS]
            n_done = before.n_done + isinstance(event, ConversationHeld | JudgementMade)
            cost = _find_cost(event)
            known = before.cost_usd if cost is None else (before.cost_usd or 0.0) + cost
            self._state = replace(before, events=events, n_done=n_done, cost_usd=known)

    def begin(self, plan: JudgePlan) -> None:
        """Note what the run is to do."""
        with self._lock:
            self._state = replace(
                self._state,
                phase=RunPhase.RUNNING,
                agent_name=plan.agent.name,
                n_steps=plan.n_steps,
            )

    def end(self, phase: RunPhase, message: str) -> None:
        """Note that the run is over."""
        with self._lock:
            self._ended = self._monotonic()
            self._state = replace(self._state, phase=phase, message=message)

    def state(self) -> JudgeState:
        """Current state of the run."""
        with self._lock:
            now = self._monotonic() if self._ended is None else self._ended
            return replace(self._state, elapsed_s=now - self._started)


def _find_cost(event: AgentEvent) -> float | None:
    match event:
        case ConversationHeld(conversation=conversation):
            return conversation.cost_usd
        case JudgementMade(judgement=judgement):
            return judgement.cost_usd
    return None


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

    def registry(self) -> AgentRegistry:
        """Load the agents and models of the workspace.

        Raises:
            ConfigError: With every problem of llms.json.
        """
        return load_agent_registry(self._data_dir())

    def preview(self, request: JudgeRequest) -> JudgePreview:
        """Plan a run and estimate its cost, without requests.

        Raises:
            ConfigError: If the agent or judge does not exist, or a key is missing.
        """
        runner = self._open_runner(self._data_dir())
        try:
            plan = runner.plan(request)
        finally:
            runner.close()
        return JudgePreview(plan=plan, most_usd=estimate_plan_usd(plan))

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
            raise RunRefusedError(other, hint="Wait until it ends, or cancel it.")

    def _prepare(self, order: JudgeOrder) -> Work:
        self._cancelled = threading.Event()
        self._watcher = JudgeWatcher(self._clock)
        return partial(self._work, order, self._watcher, self._cancelled)

    def _work(self, order: JudgeOrder, watcher: JudgeWatcher, cancelled: threading.Event) -> None:
        """Run; whatever ends the thread, the page learns that the run is over."""
        end = (
            RunPhase.BROKEN,
            "Internal error: see the console of the dashboard.",
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
