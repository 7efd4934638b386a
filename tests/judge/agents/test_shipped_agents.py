from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml

from poor_bench.config.json_schemas import build_json_schemas
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.judge import Judge
from poor_bench.judge.pairwise import PairwiseJudge
from poor_bench.judge.registry import load_agent_registry, read_rubric
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Dimension, Rubric
from poor_bench.judge.run_plan import JudgePlan
from poor_bench.judge.storage import JudgementStore
from poor_bench.llm_manager import LLMManager
from tests.providers.embedded_file import real_model

DATA = Path(__file__).parents[3] / "data"
FILES = sorted((DATA / "agents").glob("*.yaml"))


def test_nothing_is_wrong_with_them() -> None:
    registry = load_agent_registry(DATA)
    assert list(registry.agents) == [path.stem for path in FILES]
    assert registry.problems == ()


def test_one_has_the_default_rubric_and_one_its_own() -> None:
    registry = load_agent_registry(DATA)
    assert read_rubric(registry.agent("sales_qualification")) == (DEFAULT_RUBRIC, ())
    rubric, warnings = read_rubric(registry.agent("support_desk"))
    assert rubric.names == ("problem_solving", "rules", "empathy")
    assert warnings == ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_has_written_turns_a_simulated_user_and_satisfies_the_schema(path: Path) -> None:
    validator = jsonschema.Draft7Validator(build_json_schemas()["agent.schema.json"])
    assert list(validator.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == []
    agent = load_agent_registry(DATA).agent(path.stem)
    assert any(len(case.turns) > 1 for case in agent.cases)
    assert any(case.simulated_user for case in agent.cases)
    assert all(case.expected_behavior for case in agent.cases)


@pytest.mark.embedded
def test_embedded_model_talks_is_judged_and_competes_for_real(tmp_path: Path) -> None:
    real_model()
    shutil.copytree(DATA / "agents", tmp_path / "agents")
    llms = json.loads((DATA / "llms.json").read_text())
    for llm in llms["llms"]:
        llm["parameters"] |= {"max_tokens": 24 if "id" not in llm else 96}
    (tmp_path / "llms.json").write_text(json.dumps(llms))
    registry = load_agent_registry(tmp_path)
    agent = registry.agent("support_desk")
    judge = registry.llms["embedded:smollm2-135m:judge"]
    rubric = Rubric("short", (Dimension("kind", 100.0, "Kind."),))
    plan = JudgePlan(
        agent=agent, cases=agent.cases[:1], llms=registry.llms, rubric=rubric, judges=(judge,)
    )
    manager = LLMManager(tmp_path)
    try:
        run = JudgeRunner(tmp_path, manager=manager).run(plan, run_id="run-1")
        [talk] = run.conversations
        compared = PairwiseJudge(Judge(judge, manager, rubric)).compare(talk, talk)
    finally:
        manager.close()
    assert talk.turns[1].text
    assert talk.prompt_tokens is not None
    [judgement] = run.judgements
    assert judgement.is_fallback or 0 <= judgement.overall_score <= 10
    assert judgement.is_self_judged
    assert judgement.usage.completion_tokens
    assert compared.error or (compared.a_first is not None and compared.b_first is not None)
    assert JudgementStore(tmp_path).find("run-1") == run
