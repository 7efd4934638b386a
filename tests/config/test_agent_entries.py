from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.agent_entries import LoadedAgents, load_agents
from poor_bench.config.load import raise_errors
from poor_bench.errors import ConfigError
from poor_bench.models.agent import SimulatedUser
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem

LLMS = tuple(
    LLM(id=f"scripted:{name}", provider="scripted", name=name) for name in ("seller", "buyer")
)
GOOD = """\
llm: scripted:seller
system_prompt: You sell bicycles.
skill: {name: Selling, rubric: "### 1. TONE (100%)"}
cases:
  - {id: hello, input: Hi, expected_behavior: Greets, group: greetings}
  - id: talk
    turns: [Hi, "How much?"]
    contains: [euro]
    simulated_user: {persona: In a hurry, llm: "scripted:buyer", max_turns: 5}
"""


def load(folder: Path, **files: str) -> LoadedAgents:
    (folder / "agents").mkdir()
    for name, text in files.items():
        (folder / "agents" / f"{name}.yaml").write_text(text, encoding="utf-8")
    bad = Problem(file="", place="", message="bad", line=1)
    loaded = load_agents(folder, LLMS, lambda rubric: [bad] if "BAD" in rubric else [])
    raise_errors(loaded.problems)
    return loaded


def problems_of(folder: Path, **files: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, **files)
    return [str(problem).removeprefix(f"{folder}/agents/") for problem in caught.value.problems]


def test_agent_is_read_with_its_cases(tmp_path: Path) -> None:
    agent = load(tmp_path, bikes=GOOD).by_id["bikes"]
    assert (agent.id, agent.name, agent.threshold) == ("bikes", "bikes", None)
    assert [case.turns for case in agent.cases] == [("Hi",), ("Hi", "How much?")]
    assert [case.group for case in agent.cases] == ["greetings", None]
    assert agent.cases[1].contains == ("euro",)
    assert agent.cases[1].simulated_user == SimulatedUser(
        persona="In a hurry", llm_id="scripted:buyer", max_turns=5
    )


def test_llms_may_be_named_by_the_ids_of_older_tools(tmp_path: Path) -> None:
    text = GOOD.replace("scripted:seller", "scripted:seller:false")
    text = text.replace("scripted:buyer", "scripted:buyer:true")
    agent = load(tmp_path, bikes=text).by_id["bikes"]
    user = agent.cases[1].simulated_user
    assert (agent.llm_id, user.llm_id if user else "") == ("scripted:seller", "scripted:buyer")


def test_simulated_user_is_played_by_the_agents_llm_by_default(tmp_path: Path) -> None:
    text = GOOD.replace(', llm: "scripted:buyer"', "")
    user = load(tmp_path, bikes=text).by_id["bikes"].cases[1].simulated_user
    assert user is not None
    assert user.llm_id == "scripted:seller"


def test_agent_may_have_a_threshold_of_its_own(tmp_path: Path) -> None:
    assert load(tmp_path, bikes=f"threshold: 6\n{GOOD}").by_id["bikes"].threshold == 6.0


def test_workspace_without_agents_has_none(tmp_path: Path) -> None:
    assert load_agents(tmp_path, LLMS, lambda _: []).by_id == {}


def test_rubric_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tone.md").write_text("### 1. TONE (100%)\n")
    text = GOOD.replace('rubric: "### 1. TONE (100%)"', "rubric_file: ../tone.md")
    skill = load(tmp_path, bikes=text).by_id["bikes"].skill
    assert skill is not None
    assert skill.rubric == "### 1. TONE (100%)\n"


def test_rubric_file_stays_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "tone.md").write_text("### 1. TONE (100%)\n")
    text = GOOD.replace('rubric: "### 1. TONE (100%)"', "rubric_file: ../../tone.md")
    (tmp_path / "bench").mkdir()
    [told] = problems_of(tmp_path / "bench", bikes=text)
    assert "leads out of" in told


def test_problems_of_all_files_are_told_at_once_with_line_and_nearest_name(tmp_path: Path) -> None:
    wrong_llm = GOOD.replace("llm: scripted:seller", "llm: scripted:sellar")
    misspelt = GOOD.replace("expected_behavior", "expected_behaviour")
    told = problems_of(tmp_path, a=wrong_llm, b=misspelt, c=GOOD.replace("TONE", "BAD"))
    assert told == [
        (
            "a.yaml:1 llm: unknown model `scripted:sellar` "
            "(nearest: `scripted:seller`, `scripted:buyer`)"
        ),
        (
            "b.yaml:5 cases[0].expected_behaviour: unknown key `expected_behaviour` "
            "(did you mean `expected_behavior`? Keys that begin with `_` are comments)"
        ),
        "c.yaml:3 skill.rubric: line 1 of the rubric: bad",
    ]


def test_cases_that_cannot_be_had_are_errors(tmp_path: Path) -> None:
    cases = """\
llm: scripted:seller
system_prompt: x
cases:
  - {id: a}
  - {id: b, input: x, turns: [x]}
  - {id: b, input: x}
"""
    assert problems_of(tmp_path, a=cases) == [
        "a.yaml:4 cases[0]: give either `input` or `turns`",
        "a.yaml:5 cases[1]: give either `input` or `turns`",
        "a.yaml:6 cases[2].id: the id `b` is already used by cases[1]",
    ]


def test_id_that_two_files_claim_is_an_error(tmp_path: Path) -> None:
    told = problems_of(tmp_path, a=GOOD, b=f"id: a\n{GOOD}")
    assert told == ["b.yaml:1 id: the id `a` is already used by another file"]


def test_file_of_another_format_is_refused(tmp_path: Path) -> None:
    [told] = problems_of(tmp_path, a=f"version: '2.0'\n{GOOD}")
    assert "format 1.0 is understood" in told


def test_simulated_user_without_a_turn_left_is_a_warning(tmp_path: Path) -> None:
    [problem] = load(tmp_path, a=GOOD.replace("max_turns: 5", "max_turns: 2")).problems
    assert problem.place == "cases[1].simulated_user.max_turns"


def test_a_rule_may_be_a_single_text(tmp_path: Path) -> None:
    text = GOOD.replace("contains: [euro]", "contains: euro\n    contains_not: [free]")
    case = load(tmp_path, bikes=text).by_id["bikes"].cases[1]
    assert (case.contains, case.contains_not) == (("euro",), ("free",))


@pytest.mark.parametrize("rule", ["5", "[5]", "{a: b}", "[null]", "' '", "[' ']", "null"])
@pytest.mark.parametrize("key", ["contains", "contains_not"])
def test_a_rule_that_no_answer_could_be_held_against_is_refused(
    tmp_path: Path, key: str, rule: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, bikes=GOOD.replace("contains: [euro]", f"{key}: {rule}"))
    assert any(key in problem.place for problem in caught.value.problems)
