from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, Step, TrialControl
from poor_bench.evaluation.trial_run import Supervisor
from tests.providers.fake_clock import FakeClock
from tests.waiting import wait_for

DONE = AgentOutcome(success=True, summary="fine")
STEP = Step(number=1, part="agent")


@dataclass
class Stubborn:
    """An agent that comes back when it likes to."""

    clock: FakeClock
    may_return: threading.Event = field(default_factory=threading.Event)
    has_returned: threading.Event = field(default_factory=threading.Event)
    seconds: float = 10_000
    error: RunCancelledError | None = None

    def __call__(self, control: TrialControl) -> AgentOutcome:
        self.clock.seconds = self.seconds
        assert self.may_return.wait(30)
        try:
            control.note_step(STEP)
        except RunCancelledError as error:
            self.error = error
        self.has_returned.set()
        return DONE


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def agent(clock: FakeClock) -> Iterator[Stubborn]:
    agent = Stubborn(clock)
    yield agent
    agent.may_return.set()


def run(clock: FakeClock, agent: Callable[[TrialControl], AgentOutcome], stopped: bool) -> object:
    control = TrialControl(cancelled=lambda: stopped and clock.seconds > 0)
    return Supervisor(clock=clock).run_browser(agent, control, 600)


def test_the_outcome_is_that_of_the_agent(clock: FakeClock) -> None:
    assert run(clock, lambda _control: DONE, stopped=False) is DONE


@pytest.mark.parametrize("error", [ConfigError("no"), TimeoutError("slow"), SystemExit(3)])
def test_what_an_agent_raises_is_raised(clock: FakeClock, error: BaseException) -> None:
    def fail(_control: TrialControl) -> AgentOutcome:
        raise error

    with pytest.raises(type(error)) as raised:
        run(clock, fail, stopped=False)
    assert raised.value is error


def test_a_browser_that_ignores_its_time_limit_is_abandoned(
    clock: FakeClock, agent: Stubborn
) -> None:
    with pytest.raises(AgentError, match="time limit of 600 s"):
        run(clock, agent, stopped=False)


def test_steps_of_an_agent_that_was_given_up_are_not_taken(
    clock: FakeClock, agent: Stubborn
) -> None:
    with pytest.raises(AgentError):
        run(clock, agent, stopped=False)
    agent.may_return.set()
    assert agent.has_returned.wait(30)
    assert isinstance(agent.error, RunCancelledError)


def test_an_agent_within_its_limits_is_waited_for(clock: FakeClock, agent: Stubborn) -> None:
    agent.seconds = 700
    agent.may_return.set()
    assert run(clock, agent, stopped=False) is DONE


@contextmanager
def ignoring_the_stop(clock: FakeClock) -> Iterator[tuple[Any, TrialControl]]:
    """An agent that goes on after the run was stopped, and its control."""
    may_return = threading.Event()
    is_asked = threading.Event()

    def go_on(_control: TrialControl) -> AgentOutcome:
        clock.seconds = 1
        assert is_asked.wait(30)
        clock.seconds = 40
        may_return.wait(30)
        return DONE

    def cancelled() -> bool:
        is_asked.set()
        return clock.seconds > 0

    yield go_on, TrialControl(cancelled=cancelled)
    may_return.set()


def test_an_agent_that_does_not_stop_is_abandoned(clock: FakeClock) -> None:
    with ignoring_the_stop(clock) as (agent, control), pytest.raises(RunCancelledError) as raised:
        Supervisor(clock=clock).run_browser(agent, control, 600)
    assert "abandoned" in str(raised.value)


def run_custom(
    clock: FakeClock, agent: Callable[[TrialControl], AgentOutcome], time_limit_s: float = 2
) -> AgentOutcome:
    return Supervisor(clock=clock).run_custom(agent, TrialControl(), time_limit_s)


LIMIT = "no outcome within the time limit of 2 s"


def test_a_custom_agent_that_blocks_has_failed_at_its_time_limit(
    clock: FakeClock, agent: Stubborn
) -> None:
    agent.seconds = 2 + Supervisor(clock=clock).to_report_s
    assert run_custom(clock, agent) == AgentOutcome(success=False, error=LIMIT)
    assert clock.seconds < 10


def test_a_custom_agent_is_asked_to_stop_at_its_limit_and_may_still_report(
    clock: FakeClock,
) -> None:
    def late(control: TrialControl) -> AgentOutcome:
        clock.seconds = 2
        wait_for(control.cancelled)
        return AgentOutcome(success=True, error="", actions=3, input_tokens=70)

    outcome = run_custom(clock, late)
    assert (outcome.success, outcome.error) == (False, LIMIT)
    assert (outcome.actions, outcome.input_tokens) == (3, 70)


@pytest.mark.parametrize("error", [RunCancelledError("stopped"), KeyError("oops")])
def test_whatever_a_late_agent_raises_it_has_used_up_its_time(
    clock: FakeClock, error: Exception
) -> None:
    def late(control: TrialControl) -> AgentOutcome:
        clock.seconds = 2
        wait_for(control.cancelled)
        raise error

    assert run_custom(clock, late) == AgentOutcome(success=False, error=LIMIT)


def test_a_custom_agent_in_time_keeps_its_outcome(clock: FakeClock) -> None:
    assert run_custom(clock, lambda _control: DONE) is DONE


def test_a_custom_agent_that_swallows_the_stop_of_the_run_is_abandoned(clock: FakeClock) -> None:
    with ignoring_the_stop(clock) as (agent, control), pytest.raises(RunCancelledError) as raised:
        Supervisor(clock=clock).run_custom(agent, control, 600)
    assert "abandoned" in str(raised.value)
