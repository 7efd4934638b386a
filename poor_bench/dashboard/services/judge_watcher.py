"""Collects the state of a judged run from its events."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.judge_state import JudgeState
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.judge.judged_run import AgentEvent, ConversationHeld, JudgementMade
from poor_bench.judge.report_text import event_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from poor_bench.judge.run_plan import JudgePlan

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
            cost = _cost_of(event)
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


def _cost_of(event: AgentEvent) -> float | None:
    match event:
        case ConversationHeld(conversation=conversation):
            return conversation.cost_usd
        case JudgementMade(judgement=judgement):
            return judgement.cost_usd
    return None
