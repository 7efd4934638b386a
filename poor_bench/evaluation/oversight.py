"""Run an agent so that it cannot hold up the run: what neither ends nor stops is given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from dataclasses import dataclass

from poor_bench.errors import AgentError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, Step, TrialControl
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Clock

_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversight:
    """How long an agent may go on when it should have ended, in seconds."""

    clock: Clock
    after_stop_s: float = 30
    """Longer than a browser takes that has to be ended by force."""
    after_time_limit_s: float = 120
    """Longer than a browser may take to start and to end, which its time limit does not count."""

    def run(
        self,
        agent: Callable[[TrialControl], AgentOutcome],
        control: TrialControl,
        time_limit_s: float,
    ) -> AgentOutcome:
        """Run an agent in a thread of its own and return what it returns, or raise what it raises.

        Raises:
            RunCancelledError: If the run was stopped and the agent did not come back.
            AgentError: If it did not come back long after its time limit.
        """
        given_up = threading.Event()
        future: Future[AgentOutcome] = Future()
        watched = _until(given_up, control)
        work = threading.Thread(
            target=lambda: _settle(future, lambda: agent(watched)), name="agent", daemon=True
        )
        end_s = self.clock.monotonic() + time_limit_s + self.after_time_limit_s
        work.start()
        try:
            outcome = self._wait(future, control, end_s)
        finally:
            given_up.set()
        if outcome is not None:
            return outcome
        raise AgentError(
            f"the agent did not come back {self.after_time_limit_s:.0f} s after its time limit "
            f"of {time_limit_s:.0f} s, and was given up",
            kind=FailureKind.AGENT,
        )

    def _wait(
        self, future: Future[AgentOutcome], control: TrialControl, end_s: float
    ) -> AgentOutcome | None:
        """Return the outcome, or None where there is none by the end."""
        stopped_s: float | None = None
        while not future.done():
            with suppress(NotYetError):
                future.exception(_INTERVAL_S)
            now_s = self.clock.monotonic()
            if control.cancelled():
                stopped_s = now_s if stopped_s is None else stopped_s
                if now_s - stopped_s > self.after_stop_s and not future.done():
                    raise RunCancelledError("the agent did not stop, and was given up")
            elif now_s > end_s and not future.done():
                return None
        return future.result()


def _until(given_up: threading.Event, control: TrialControl) -> TrialControl:
    """Return the control of an agent whose steps nobody wants any more once it is given up."""

    def note_step(step: Step) -> None:
        if given_up.is_set():
            raise RunCancelledError("the trial was given up")
        control.note_step(step)

    return TrialControl(
        cancelled=lambda: given_up.is_set() or control.cancelled(), note_step=note_step
    )


def _settle(future: Future[AgentOutcome], work: Callable[[], AgentOutcome]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised again where the trial is run
        future.set_exception(error)
