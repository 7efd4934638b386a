from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.caller import SystemClock
from poor_bench.errors import (
    AgentError,
    ConfigError,
    MissingExtraError,
    ProviderError,
    RunCancelledError,
)
from poor_bench.evaluation.adapters.browser_use import agent
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, AgentTask, Step, TrialControl
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from tests.evaluation.adapters.fake_browser_use import Library, install


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    return install(monkeypatch)


def answer(*actions: dict[str, Any]) -> str:
    return json.dumps({"next_goal": "go on", "action": list(actions)})


CLICK = answer({"click": {"index": 3}})
DONE = answer({"done": {"text": '{"name": "Glass teapot"}', "success": True}})
GIVE_UP = answer({"done": {"text": "Sold out.", "success": False}})


@dataclass
class Trial:
    """Runs trials of one script."""

    folder: Path
    steps: list[Step] = field(default_factory=list)

    def run(self, *replies: Any, cancelled: bool = False, **fields: Any) -> AgentOutcome:
        llm = LLM(id="s:x", provider="scripted", name="x", parameters={"responses": [*replies]})
        clock = SystemClock()
        services = AgentServices(
            data_dir=self.folder,
            llms=LLMManager(self.folder, clock=clock),
            environ={"SHOP_PASSWORD": "secret"},
            clock=clock,
        )
        values = {"case_id": "one", "trial": 1, "directive": "Buy.", "folder": self.folder}
        task = AgentTask(**{**values, "llm": llm, **fields})
        control = TrialControl(cancelled=lambda: cancelled, note_step=self.steps.append)
        return agent(services).run(task, control)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


def test_llm_of_the_case_acts_and_every_step_is_told(library: Library, trial: Trial) -> None:
    replies = {"text": CLICK, "prompt_tokens": 100, "completion_tokens": 10}
    outcome = trial.run(replies, DONE, output_schema={"required": ["name"]})
    assert (outcome.success, outcome.data) == (True, {"name": "Glass teapot"})
    assert (outcome.actions, outcome.input_tokens, outcome.output_tokens) == (1, 100, 10)
    assert [step.number for step in trial.steps] == [1, 2]
    assert '{"click": {"index": 3}}' in trial.steps[0].text
    assert (trial.folder / trial.steps[0].screenshot).is_file()


def test_traffic_goes_through_our_proxy_and_credentials_have_their_origin(
    library: Library, trial: Trial
) -> None:
    trial.run(DONE, credentials={"SHOP_PASSWORD": "https://shop.example"}, start_url="https://a.b")
    (browser,) = library.browsers
    (acting,) = library.agents
    assert browser["proxy"].server.startswith("http://127.0.0.1:")
    assert "--proxy-bypass-list=<-loopback>" in browser["args"]
    assert acting["sensitive_data"] == {"https://shop.example": {"SHOP_PASSWORD": "secret"}}
    assert acting["initial_actions"] == [{"navigate": {"url": "https://a.b", "new_tab": False}}]
    assert not Path(browser["user_data_dir"]).exists()
    assert library.n_killed == 1


def test_agent_that_gives_up_has_failed(library: Library, trial: Trial) -> None:
    outcome = trial.run(GIVE_UP)
    assert (outcome.success, outcome.summary) == (False, "Sold out.")
    assert outcome.data == {}


def test_agent_that_never_ends_has_failed(library: Library, trial: Trial) -> None:
    assert trial.run(CLICK, max_steps=2).error == "not done after 2 steps"
    library.hangs = True
    assert "time limit of 0.1 s" in trial.run(CLICK, time_limit_s=0.1).error
    assert library.n_killed == 2


def test_answers_of_no_use_are_the_agents_failure(library: Library, trial: Trial) -> None:
    assert trial.run("I would click.", DONE).success


def test_llm_that_cannot_be_asked_is_no_failure_of_the_agent(
    library: Library, trial: Trial
) -> None:
    with pytest.raises(ProviderError):
        trial.run(CLICK, {"failure": "auth", "message": "no key"})
    assert len(trial.steps) == 1


def test_what_keeps_it_from_running_is_raised(library: Library, trial: Trial) -> None:
    with pytest.raises(ConfigError, match="needs an LLM"):
        trial.run(DONE, llm=None)
    with pytest.raises(RunCancelledError):
        trial.run(DONE, cancelled=True)
    library.starts = False
    with pytest.raises(AgentError, match="did not start"):
        trial.run(DONE)


def test_missing_package_is_told(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "browser_use", None)
    with pytest.raises(MissingExtraError) as caught:
        trial.run(DONE)
    assert caught.value.hint.endswith("pip install 'browser-use>=0.13'")
