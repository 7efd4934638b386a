"""Run an agent so that it cannot hold up the run: one that does not end is abandoned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from dataclasses import dataclass, replace

from poor_bench.errors import AgentError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, Step, TrialControl
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Clock

RunAgent = Callable[[TrialControl], AgentOutcome]
_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Ends trials whose agent does not end by itself. All times are in seconds."""

    clock: Clock
    after_stop_s: float = 30
    """Grace after the run was stopped: longer than a browser takes that must be killed."""
    after_time_limit_s: float = 120
    """Grace of our browser, whose time limit does not count its start and its end."""
    to_report_s: float = 3
    """Grace of any other agent to report its tokens and actions after its time limit."""

    def run_browser(
        self, agent: RunAgent, control: TrialControl, time_limit_s: float
    ) -> AgentOutcome:
        """Run an agent that keeps its time limit itself.

        Raises:
            RunCancelledError: If the run was stopped and the agent did not return.
            AgentError: If it did not return long after its time limit.
        """
        end_s = self.clock.monotonic() + time_limit_s + self.after_time_limit_s
        with _SupervisedAgent(agent, control) as work:
            if self._ends_by(end_s, work.future, control):
                return work.future.result()
        raise AgentError(
            f"the browser did not end within {self.after_time_limit_s:.0f} s after the time limit "
            f"of {time_limit_s:g} s, and was abandoned",
            kind=FailureKind.AGENT,
        )

    def run_custom(
        self, agent: RunAgent, control: TrialControl, time_limit_s: float
    ) -> AgentOutcome:
        """Run an agent that is not ours: what has no outcome at the time limit has failed.

        At the limit `control.cancelled()` turns true. What the agent returns after that is kept,
        except for its success.

        Raises:
            RunCancelledError: If the run was stopped and the agent did not return.
        """
        end_s = self.clock.monotonic() + time_limit_s
        with _SupervisedAgent(agent, control) as work:
            if self._ends_by(end_s, work.future, control):
                return work.future.result()
            work.ask_to_stop()
            is_late = self._ends_by(end_s + self.to_report_s, work.future, control)
            return _report_time_limit(work.future if is_late else None, time_limit_s)

    def _ends_by(self, end_s: float, future: Future[AgentOutcome], control: TrialControl) -> bool:
        """Wait for an agent; false if it is still at work at `end_s`."""
        stopped_s: float | None = None
        while not future.done():
            left_s = max(end_s - self.clock.monotonic(), 0.0)
            with suppress(NotYetError):
                future.exception(min(_INTERVAL_S, left_s))
            now_s = self.clock.monotonic()
            if control.cancelled():
                stopped_s = now_s if stopped_s is None else stopped_s
                if now_s - stopped_s > self.after_stop_s and not future.done():
                    raise RunCancelledError("the agent did not stop, and was abandoned")
            elif now_s >= end_s and not future.done():
                return False
        return True


class _SupervisedAgent:
    """An agent at work in a thread of its own; abandoned when the context is left."""

    def __init__(self, agent: RunAgent, control: TrialControl) -> None:
        self.future: Future[AgentOutcome] = Future()
        self._agent = agent
        self._control = control
        self._must_stop = threading.Event()
        self._is_abandoned = threading.Event()

    def __enter__(self) -> _SupervisedAgent:
        # A daemon: no thread can be killed from outside, and one that never ends must not keep
        # the process alive.
        threading.Thread(target=self._settle, name="agent", daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_abandoned.set()
        self._must_stop.set()

    def ask_to_stop(self) -> None:
        """Let `cancelled()` of the agent's control turn true."""
        self._must_stop.set()

    def _settle(self) -> None:
        control = TrialControl(cancelled=self._is_cancelled, note_step=self._note_step)
        try:
            self.future.set_result(self._agent(control))
        except BaseException as error:  # noqa: BLE001 - raised again where the trial is run
            self.future.set_exception(error)

    def _is_cancelled(self) -> bool:
        return self._must_stop.is_set() or self._control.cancelled()

    def _note_step(self, step: Step) -> None:
        if self._is_abandoned.is_set():
            raise RunCancelledError("the trial was abandoned")
        self._control.note_step(step)


def _report_time_limit(late: Future[AgentOutcome] | None, time_limit_s: float) -> AgentOutcome:
    error = f"no outcome within the time limit of {time_limit_s:g} s"
    if late is None or late.exception() is not None:
        return AgentOutcome(success=False, error=error)
    return replace(late.result(), success=False, error=error)
