from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, Step, TrialControl
from poor_bench.evaluation.oversight import Oversight
from tests.providers.fake_clock import FakeClock

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
    return Oversight(clock=clock).run(agent, control, 600)


def test_the_outcome_is_that_of_the_agent(clock: FakeClock) -> None:
    assert run(clock, lambda _control: DONE, stopped=False) is DONE


@pytest.mark.parametrize("error", [ConfigError("no"), TimeoutError("slow"), SystemExit(3)])
def test_what_an_agent_raises_is_raised(clock: FakeClock, error: BaseException) -> None:
    def fail(_control: TrialControl) -> AgentOutcome:
        raise error

    with pytest.raises(type(error)) as raised:
        run(clock, fail, stopped=False)
    assert raised.value is error


def test_an_agent_that_ignores_its_time_limit_is_given_up(
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


def test_an_agent_that_does_not_stop_is_given_up(clock: FakeClock) -> None:
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

    control = TrialControl(cancelled=cancelled)
    with pytest.raises(RunCancelledError, match="given up"):
        Oversight(clock=clock).run(go_on, control, 600)
    may_return.set()
