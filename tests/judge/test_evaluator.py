from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.judge import DEFAULT_RUBRIC, Evaluator, evaluate_sync
from poor_bench.models.llm import LLM
from tests.judge.judging import LISTS, scripted_llm
from tests.providers.servers import anthropic_format as wire
from tests.providers.servers.fake_server import Answer, FakeServer, in_turn, serving

AGENT = {
    "id": "sdr",
    "name": "Sales agent",
    "description": "Qualifies leads.",
    "system_prompt": "Ask for the budget.",
}
RESULTS = [
    {
        "test_name": "budget",
        "input": "I need a phone system.",
        "agent_response": "What is your budget?",
        "expected_behavior": "asks for the budget",
        "passed": True,
        "execution_time": 0.5,
    }
]
SCORES = {"completeness": 8, "tone": 9, "engagement": 7, "compliance": 10, "conversion": 6}
OVERALL = 0.25 * 8 + 0.2 * 9 + 0.2 * 7 + 0.2 * 10 + 0.15 * 6
VERDICT = {
    "overall_score": 1,
    "scores": SCORES,
    "test_case_evaluations": [
        {"test_name": "budget", "score": 9, "passed": True, "feedback": "asked"}
    ],
    **{name: [f"a {name}"] for name in LISTS},
}
REFUSED_KEY = wire.refusal(401, "authentication_error", "invalid x-api-key")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for variable in ("MODEL", "TEMPERATURE", "MAX_TOKENS"):
        monkeypatch.delenv(f"ANTHROPIC_{variable}", raising=False)
    with serving(in_turn(wire.reply(json.dumps(VERDICT)))) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def evaluated(server: FakeServer, *answers: Answer, **settings: Any) -> dict[str, Any]:
    if answers:
        server.respond = in_turn(*answers)
    return evaluate_sync(AGENT, None, RESULTS, **settings)


def test_the_dictionary_is_the_documented_one(server: FakeServer) -> None:
    result = evaluated(server)
    assert result["overall_score"] == pytest.approx(OVERALL, abs=0.01)
    assert result["scores"] == SCORES
    assert result["test_case_evaluations"] == [
        {"test_name": "budget", "score": 9.0, "passed": True, "feedback": "asked"}
    ]
    assert {name: result[name] for name in LISTS} == {name: VERDICT[name] for name in LISTS}
    assert result["judge"] == "anthropic:claude-opus-4-20250514"
    assert (result["attempts"], result["is_fallback"]) == (1, False)
    assert result["usage"]["completion_tokens"] == 15
    assert result["cost_usd"] > 0
    assert result["rubric_hash"] == DEFAULT_RUBRIC.hash
    assert result["approved"]
    json.dumps(result)


def test_the_request_is_the_documented_one(server: FakeServer) -> None:
    evaluated(server)
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "sk-ant-0123456789"
    body = request.body
    assert body["model"] == "claude-opus-4-20250514"
    assert (body["temperature"], body["max_tokens"]) == (0.3, 4000)
    assert body["output_config"]["format"]["type"] == "json_schema"
    told = body["messages"][0]["content"]
    for text in ("Qualifies leads.", "Ask for the budget.", "asks for the budget"):
        assert text in told


def test_the_environment_overrides_the_defaults(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_MODEL", "claude-x")
    monkeypatch.setenv("ANTHROPIC_TEMPERATURE", "0.5")
    monkeypatch.setenv("ANTHROPIC_MAX_TOKENS", "99")
    evaluated(server)
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("claude-x", 0.5, 99)


def test_config_yaml_overrides_the_defaults(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.yaml").write_text(
        "judge: {model: claude-y, temperature: 0.7, threshold: 9.5}"
    )
    assert not evaluated(server)["approved"]
    body = server.requests[0].body
    assert (body["model"], body["temperature"]) == ("claude-y", 0.7)


def test_a_model_that_takes_no_temperature_and_no_schema_judges_all_the_same(
    server: FakeServer,
) -> None:
    refusals = [
        "`temperature` is deprecated for this model.",
        "output_config.format: this model does not support structured outputs",
    ]
    answers = [wire.refusal(400, "invalid_request_error", message) for message in refusals]
    result = evaluated(server, *answers, wire.reply(json.dumps(VERDICT)))
    assert not result["is_fallback"]
    last = server.requests[-1].body
    assert "temperature" not in last
    assert "output_config" not in last
    assert any("temperature" in warning for warning in result["warnings"])


def test_an_api_that_fails_gives_the_documented_fallback(server: FakeServer) -> None:
    result = evaluated(server, REFUSED_KEY)
    assert (result["overall_score"], result["is_fallback"]) == (5.0, True)
    assert not result["approved"]
    assert "key" in result["error"]
    assert result["failures"] == [result["error"]]
    assert "sk-ant" not in json.dumps(result)


def test_a_judge_that_is_not_served_any_more_is_told_with_the_way_out(server: FakeServer) -> None:
    gone = wire.refusal(404, "not_found_error", "model: claude-opus-4-20250514")
    result = evaluated(server, gone)
    assert result["is_fallback"]
    assert "ANTHROPIC_MODEL" in result["error"]


def test_a_missing_key_is_told_before_anything_is_sent(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        Evaluator()
    assert server.requests == []


def test_nothing_to_judge_is_told(server: FakeServer) -> None:
    with pytest.raises(ConfigError, match="nothing to judge"):
        evaluate_sync(AGENT, None, [])


def test_it_can_be_awaited() -> None:
    with Evaluator(scripted_llm(json.dumps(VERDICT))) as evaluator:
        result = asyncio.run(
            evaluator.evaluate_async(AGENT, {"name": "s", "rubric": None}, RESULTS)
        )
    assert result["scores"] == SCORES


def test_a_skill_brings_its_own_rubric() -> None:
    skill = {"name": "support", "rubric": "### 1. HELP (50%)\nHelps.\n### 2. CALM (30%)\nCalm."}
    reply = json.dumps({"scores": {"help": 8, "calm": 0}})
    result = evaluate_sync(AGENT, skill, RESULTS, model=scripted_llm(reply))
    assert result["overall_score"] == 5.0
    assert result["rubric_name"] == "support"
    assert any("80 %" in warning for warning in result["warnings"])
    with pytest.raises(ConfigError, match="80 %"):
        evaluate_sync(AGENT, skill, RESULTS, model=scripted_llm(reply), strict_rubrics=True)


def test_any_llm_of_the_workspace_can_judge(tmp_path: Path) -> None:
    entry = {
        "provider": "scripted",
        "name": "j",
        "id": "my-judge",
        "parameters": {"responses": json.dumps(VERDICT)},
    }
    (tmp_path / "llms.json").write_text(json.dumps({"llms": [entry]}))
    result = evaluate_sync(AGENT, None, RESULTS, model="my-judge", data_dir=tmp_path)
    assert (result["judge"], result["is_fallback"]) == ("my-judge", False)


def test_an_agent_that_judges_itself_is_flagged() -> None:
    llm = scripted_llm(json.dumps(VERDICT))
    result = evaluate_sync({**AGENT, "llm": llm.id}, None, RESULTS, model=llm)
    assert result["is_self_judged"]


def test_conversations_of_several_turns_are_shown_in_order() -> None:
    results = [{**RESULTS[0], "input": ["one", "three"], "agent_response": ["two", "four"]}]
    script = {"/(?s)one.*two.*three.*four/": json.dumps(VERDICT)}
    llm = LLM(id="s", provider="scripted", name="s", parameters={"responses": script})
    assert not evaluate_sync(AGENT, None, results, model=llm)["is_fallback"]
