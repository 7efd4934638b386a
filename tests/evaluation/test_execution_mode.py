from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError, ProviderError
from poor_bench.evaluation.agent import AgentOutcome, AgentTask, TrialControl
from poor_bench.evaluation.browser.agent import BrowserAgent
from poor_bench.evaluation.browser.session import OutOfTimeError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM

LLM_ = LLM(id="scripted:a", provider="scripted", name="a")
FAILED = AgentOutcome(
    success=False,
    error="no button",
    data={"page": 2, "found": 0},
    extracted_text="first",
    actions=3,
)
DONE = AgentOutcome(
    success=True,
    summary="done",
    data={"found": 1},
    extracted_text="second",
    actions=2,
    input_tokens=100,
    output_tokens=10,
)


@dataclass
class FakeParts(BrowserAgent):
    """Tells in which order the parts acted, and on which session."""

    followed: AgentOutcome = DONE
    acted: AgentOutcome | Exception = DONE
    calls: list[str] = field(default_factory=list)
    handed_off: AgentOutcome | None = None

    @contextmanager
    def open_session(self, task: AgentTask, control: TrialControl) -> Iterator[str]:
        self.calls.append("open")
        yield "session"
        self.calls.append("close")

    def follow_playbook(self, session: str, task: AgentTask, control: TrialControl) -> AgentOutcome:
        self.calls.append(f"playbook on {session}")
        return self.followed

    def act(
        self,
        session: str,
        task: AgentTask,
        control: TrialControl,
        handed_off: AgentOutcome | None,
    ) -> AgentOutcome:
        self.calls.append(f"agent on {session}")
        self.handed_off = handed_off
        if isinstance(self.acted, Exception):
            raise self.acted
        return self.acted


def task_of(**fields: Any) -> AgentTask:
    values = {"case_id": "one", "trial": 1, "directive": "go", "folder": Path(), "llm": LLM_}
    return AgentTask(**{**values, **fields})


def run(parts: FakeParts, **fields: Any) -> AgentOutcome:
    return parts.run(task_of(**fields), TrialControl())


BOOK = Path("book.yaml")
BY_PLAYBOOK = ["open", "playbook on session", "close"]
BY_AGENT = ["open", "agent on session", "close"]
BY_BOTH = ["open", "playbook on session", "agent on session", "close"]


@pytest.mark.parametrize(
    ("fields", "followed", "calls", "mode"),
    [
        ({"playbook": BOOK}, DONE, BY_PLAYBOOK, "playbook"),
        ({}, DONE, BY_AGENT, "agent"),
        ({"playbook": BOOK}, FAILED, BY_BOTH, "handoff"),
        ({"playbook": BOOK, "may_hand_off": False}, FAILED, BY_PLAYBOOK, "playbook"),
        ({"playbook": BOOK, "llm": None}, FAILED, BY_PLAYBOOK, "playbook"),
        ({"playbook": BOOK, "execution_mode": "playbook_only"}, FAILED, BY_PLAYBOOK, "playbook"),
        ({"playbook": BOOK, "execution_mode": "agent_only"}, DONE, BY_AGENT, "agent"),
    ],
    ids=str,
)
def test_mode_decides_who_acts(
    fields: dict[str, Any], followed: AgentOutcome, calls: list[str], mode: str
) -> None:
    parts = FakeParts(followed=followed)
    assert run(parts, **fields).mode == mode
    assert parts.calls == calls


def test_handoff_goes_on_with_what_the_playbook_reached() -> None:
    parts = FakeParts(followed=FAILED)
    outcome = run(parts, playbook=BOOK)
    assert parts.handed_off is not None
    assert parts.handed_off.error == "no button"
    assert (outcome.success, outcome.summary, outcome.error) == (True, "done", "")
    assert outcome.data == {"page": 2, "found": 1}
    assert outcome.extracted_text == "first\nsecond"
    assert (outcome.actions, outcome.input_tokens, outcome.output_tokens) == (5, 100, 10)


def test_failure_of_ours_after_a_handoff_is_no_outcome() -> None:
    unreachable = ProviderError("nobody answers", kind=FailureKind.CONNECTION)
    with pytest.raises(ProviderError):
        run(FakeParts(followed=FAILED, acted=unreachable), playbook=BOOK)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"execution_mode": "playbook_only"}, "does not name a playbook"),
        ({"llm": None}, "needs an LLM"),
        ({"llm": None, "playbook": BOOK, "execution_mode": "agent_only"}, "needs an LLM"),
    ],
    ids=str,
)
def test_what_is_missing_is_told_before_anything_is_opened(
    fields: dict[str, Any], words: str
) -> None:
    parts = FakeParts()
    with pytest.raises(ConfigError, match=words):
        run(parts, **fields)
    assert parts.calls == []


@dataclass
class SlowStart(FakeParts):
    """Has a start page that takes the whole time limit."""

    @contextmanager
    def open_session(self, task: AgentTask, control: TrialControl) -> Iterator[str]:
        raise OutOfTimeError
        yield "session"


@pytest.mark.parametrize(("playbook", "mode"), [(None, "agent"), (BOOK, "playbook")])
def test_a_start_page_that_takes_all_the_time_fails_the_trial(
    playbook: Path | None, mode: str
) -> None:
    outcome = run(SlowStart(), playbook=playbook)
    assert (outcome.success, outcome.error) == (False, "the time limit is reached")
    assert outcome.mode == mode
