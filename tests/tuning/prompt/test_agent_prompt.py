from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.judge.registry import load_agent_registry
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.registry import create_provider
from poor_bench.tuning.prompt.cases import CaseFailedError
from poor_bench.tuning.prompt.subjects import AgentPromptSubject
from tests.judge.agent_workspace import VERDICT, write_workspace
from tests.providers.fake_clock import FakeClock


class Obedient:
    """Says what its system prompt says."""

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        system = next(item.content for item in request.messages if item.role == "system")
        return Completion(text=f"{system} 1 euro.", timing=Timing(total_ms=1.0))


def open_subject(folder: Path) -> AgentPromptSubject:
    def create(llm: LLM, services: ProviderServices) -> Any:
        return Obedient() if llm.name == "seller" else create_provider(llm, services)

    registry = load_agent_registry(folder)
    manager = LLMManager(folder, clock=FakeClock(), create=create)
    return AgentPromptSubject(registry, "bikes", registry.llms["scripted:judge"], manager)


def verdict(tone: float) -> str:
    return json.dumps({**VERDICT, "scores": {"tone": tone, "facts": tone}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judge = {"I am rude": verdict(2), "I am kind": verdict(9)}
    return write_workspace(tmp_path / "bench", judge=judge)


def test_an_agent_is_told_the_candidate_and_judged_case_by_case(folder: Path) -> None:
    subject = open_subject(folder)
    kind = subject.attempt("I am kind.", "price", lambda: False)
    rude = subject.attempt("I am rude.", "hello", lambda: False)
    assert (kind.score, rude.score) == (0.9, 0.2)
    assert kind.given == "Hi\nHow much?"
    assert kind.answer == "I am kind. 1 euro.\nI am kind. 1 euro."
    assert "warm" in kind.feedback


def test_calls_are_counted_with_the_judge(folder: Path) -> None:
    subject = open_subject(folder)
    assert subject.n_calls_per_case == 3
    assert [case.id for case in subject.cases] == ["hello", "price"]


def test_an_attempt_counts_the_calls_that_it_took(tmp_path: Path) -> None:
    broken = {**VERDICT, "scores": {"tone": 5}}
    replies = [json.dumps(broken), verdict(5), verdict(5)]
    subject = open_subject(write_workspace(tmp_path / "bench", judge=replies))
    assert subject.attempt("I am kind.", "price", lambda: False).n_calls == 2 + 2
    assert subject.attempt("I am kind.", "hello", lambda: False).n_calls == 1 + 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("bike",), "no test class or agent 'bike' exists"),
        (("bikes", "--llm", "scripted:seller"), "the agent bikes names its own model"),
    ],
)
def test_what_cannot_be_tuned_is_told(
    folder: Path, arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(folder), "tune", "prompt", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_judge_that_fails_gives_no_score(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path / "bench", judge={"": {"failure": "server_error"}})
    with pytest.raises(CaseFailedError) as failed:
        open_subject(folder).attempt("I am kind.", "hello", lambda: False)
    assert failed.value.failure.kind is FailureKind.JUDGE


def test_calls_of_an_attempt_that_the_money_ends_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path / "bench", judge=verdict(2))
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text() + "  - {id: third, turns: [Hi, Ho]}\n")
    llms = json.loads((folder / "llms.json").read_text())
    for llm in llms["llms"]:
        llm["prices"] = {"input": 1e5, "output": 1e5}
    (folder / "llms.json").write_text(json.dumps(llms))
    options = ("--judge", "scripted:judge", "--ideas", "edits", "--max-cost", "120", "--json")
    assert main(["--data", str(folder), "tune", "prompt", "bikes", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stopped"] == "cost"
    assert found["n_calls"] == 1
    assert 0 < found["cost_usd"] < 120


def test_an_accepted_prompt_stands_in_the_agents_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [verdict(2), verdict(2), *[verdict(9)] * 40]
    folder = write_workspace(tmp_path / "bench", judge=replies, writer="Be kind.", seller="Hi")
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text() + "  - {id: third, input: Bye}\n# the end\n")
    options = ("--judge", "scripted:judge", "--reflection-llm", "scripted:writer", "--json")
    assert main(["--data", str(folder), "tune", "prompt", "bikes", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["subject"] == "system prompt of agent bikes"
    assert [candidate["score"] for candidate in found["candidates"]] == [0.2, 0.9]
    assert main(["--data", str(folder), "tune", "accept", "last", "--yes"]) == 0
    assert " judge run bikes\n" in capsys.readouterr().out
    assert load_agent_registry(folder).agents["bikes"].system_prompt == "Be kind."
    assert agent.read_text().endswith("# the end\n")
