from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError, StoreError
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.judged_run import AgentEvent, ConversationHeld, JudgementMade, JudgeRun
from poor_bench.judge.registry import list_rubric_problems, load_agent_registry, read_rubric
from poor_bench.judge.run_plan import JudgePlan, choose_cases
from poor_bench.judge.storage import JudgementStore
from poor_bench.models.problem import Severity
from poor_bench.pool.events import ModelLoading
from tests.judge.agent_workspace import VERDICT, write_workspace


def plan_in(folder: Path, *judges: str, **fields: Any) -> JudgePlan:
    registry = load_agent_registry(folder)
    agent = registry.agent("bikes")
    return JudgePlan(
        agent=agent,
        cases=fields.pop("cases", agent.cases),
        llms=registry.llms,
        rubric=read_rubric(agent)[0],
        judges=tuple(registry.llms[f"scripted:{judge}"] for judge in judges or ("judge",)),
        **fields,
    )


def run_in(
    folder: Path, plan: JudgePlan, run_id: str, events: list[AgentEvent] | None = None
) -> JudgeRun:
    heard: list[AgentEvent] = [] if events is None else events
    return JudgeRunner(folder).run(plan, heard.append, run_id)


def test_agent_is_talked_to_judged_and_stored(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)
    run = run_in(folder, plan_in(folder), "run-1")
    assert [len(talk.turns) for talk in run.conversations] == [2, 4]
    assert [talk.passed for talk in run.conversations] == [None, True]
    [judgement] = run.judgements
    assert judgement.overall_score == 7.0
    assert [case.feedback for case in judgement.test_case_evaluations] == ["warm", "vague"]
    assert JudgementStore(folder).find("run-1") == run
    assert run.is_complete


def test_every_judge_is_asked_as_often_as_wanted_one_after_the_other(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, other=json.dumps(VERDICT))
    events: list[AgentEvent] = []
    run = run_in(folder, plan_in(folder, "judge", "other", repeat=2), "run-1", events)
    judges = [judgement.judge for judgement in run.judgements]
    assert judges == ["scripted:judge"] * 2 + ["scripted:other"] * 2
    loaded = [event.llm_id for event in events if isinstance(event, ModelLoading)]
    assert loaded == ["scripted:seller", "scripted:judge", "scripted:other"]
    assert sum(isinstance(event, ConversationHeld) for event in events) == 2
    assert sum(isinstance(event, JudgementMade) for event in events) == 4


def test_conversations_of_an_earlier_run_are_judged_again_without_asking_the_agent(
    tmp_path: Path,
) -> None:
    folder = write_workspace(tmp_path)
    first = run_in(folder, plan_in(folder), "run-1")
    events: list[AgentEvent] = []
    plan = plan_in(folder, conversations=first.conversations, conversations_of="run-1")
    again = run_in(folder, plan, "run-2", events)
    assert again.conversations == first.conversations
    assert again.header.conversations_of == "run-1"
    loaded = [event.llm_id for event in events if isinstance(event, ModelLoading)]
    assert loaded == ["scripted:judge"]


def test_agent_that_cannot_be_asked_is_not_judged(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, seller=[{"failure": "auth", "times": 9}])
    run = run_in(folder, plan_in(folder), "run-1")
    assert all(talk.failure is not None for talk in run.conversations)
    assert run.judgements == ()
    assert not run.is_complete


def test_only_whole_conversations_are_judged(tmp_path: Path) -> None:
    replies = {"How much": [{"failure": "auth", "times": 9}], "Hi": "Hello"}
    folder = write_workspace(tmp_path, seller=replies)
    run = run_in(folder, plan_in(folder), "run-1")
    [judgement] = run.judgements
    assert [case.test_name for case in judgement.test_case_evaluations] == ["hello"]
    assert not run.is_complete


def test_judge_that_cannot_be_understood_leaves_its_fallback(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, judge="I liked it a lot.")
    run = run_in(folder, plan_in(folder), "run-1")
    assert run.judgements[0].is_fallback
    assert run.usable_judgements == ()


def test_judge_that_is_the_agents_own_model_is_flagged(tmp_path: Path) -> None:
    replies = {"Rubric": json.dumps(VERDICT), "": "Hello! 10 euros."}
    folder = write_workspace(tmp_path, seller=replies)
    run = run_in(folder, plan_in(folder, "seller"), "run-1")
    assert run.judgements[0].is_self_judged


def test_what_is_there_stays_where_the_listener_breaks(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)

    def listen(event: AgentEvent) -> None:
        if isinstance(event, JudgementMade):
            raise StoreError("stop")

    with pytest.raises(StoreError):
        JudgeRunner(folder).run(plan_in(folder), listen, "run-1")
    stored = JudgementStore(folder).find("run-1")
    assert len(stored.conversations) == 2
    assert len(stored.judgements) == 1
    assert stored.ended == ""


def test_cases_are_chosen_by_id(tmp_path: Path) -> None:
    agent = load_agent_registry(write_workspace(tmp_path)).agent("bikes")
    assert [case.id for case in choose_cases(agent, ["price"])] == ["price"]
    assert choose_cases(agent, []) == agent.cases
    with pytest.raises(ConfigError, match="no case 'prize'") as caught:
        choose_cases(agent, ["prize"])
    assert "did you mean `price`" in caught.value.hint


def test_unknown_agent_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="agent 'bike' does not exist") as caught:
        load_agent_registry(write_workspace(tmp_path)).agent("bike")
    assert "did you mean `bikes`" in caught.value.hint


def test_bad_rubrics_are_told_with_their_lines() -> None:
    [problem] = list_rubric_problems("intro\n### 1. TONE\nfriendly")
    assert (problem.line, problem.severity) == (2, Severity.ERROR)
    assert list_rubric_problems("### 1. TONE (100%)") == []


def test_weights_that_do_not_sum_to_100_are_a_warning(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path)
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("FACTS (50%)", "FACTS (70%)"))
    [problem] = load_agent_registry(folder).problems
    assert problem.severity is Severity.WARNING
    assert "the weights sum to 120 %, not 100 %; normalised" in problem.message
