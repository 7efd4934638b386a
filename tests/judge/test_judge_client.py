from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError, RunCancelledError
from poor_bench.judge.judgement import JudgeError
from poor_bench.judge.response_judging import JudgeClient, ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import Prices
from poor_bench.models.result import Result
from poor_bench.scoring.judging import JudgeQuestion
from tests.judge.judging import scripted_llm
from tests.providers.fake_clock import FakeClock

QUESTION = JudgeQuestion(judge="scripted:j", criteria=("kind", "short"))
RESULT = Result(llm_id="scripted:j", test_id="t", prompt="Say hello", system_prompt="Be kind")


def verdict(score: float) -> str:
    return json.dumps({"scores": {"kind": score, "short": score}})


def client(responses: Any, cancelled: bool = False, **more: Any) -> JudgeClient:
    llm = scripted_llm(responses, **more)
    judging = ResponseJudging(Path("nowhere"), [llm], LLMManager(clock=FakeClock()))
    return judging.client(RESULT, lambda: cancelled)


def samples(number: int, **more: Any) -> JudgeQuestion:
    return JudgeQuestion(judge="scripted:j", criteria=("kind", "short"), samples=number, **more)


def test_one_sample_is_the_answer_and_has_no_spread() -> None:
    answer = client(verdict(8))("hi", QUESTION)
    assert (answer.overall_score, answer.spread, answer.judge) == (8.0, None, "scripted:j")
    assert answer.scores == {"kind": 8.0, "short": 8.0}
    assert answer.is_self_judged


def test_several_samples_are_their_mean_and_spread() -> None:
    answer = client([verdict(4), verdict(9), verdict(8)])("hi", samples(3))
    assert (answer.overall_score, answer.spread) == (7.0, 5.0)
    assert answer.scores["kind"] == 7.0


def test_a_sample_that_fails_enters_no_mean_and_is_noted() -> None:
    answer = client([verdict(9), "no", "never", verdict(7)])("hi", samples(3))
    assert answer.overall_score == 8.0
    assert "1 of 3 samples failed" in answer.warnings


def test_without_any_sample_there_is_no_answer() -> None:
    with pytest.raises(JudgeError):
        client("no")("hi", samples(2))


def test_everything_asked_is_recorded_with_its_cost() -> None:
    replies = [
        {"text": text, "prompt_tokens": 1000, "completion_tokens": 100}
        for text in (verdict(9), "no", "never")
    ]
    opened = client(replies, prices=Prices(input=1.0, output=10.0))
    opened("hi", samples(2))
    record = opened.record()
    assert record is not None
    assert record["judge"] == "scripted:j"
    assert [sample["is_fallback"] for sample in record["samples"]] == [False, True]
    assert record["cost_usd"] == pytest.approx(0.006)
    json.dumps(record)


def test_a_door_that_nobody_used_has_no_record() -> None:
    assert client(verdict(9)).record() is None


def test_the_judge_sees_prompt_response_and_expectation() -> None:
    script = {"/(?s)Be kind.*Say hello.*good day.*says hello/": verdict(6)}
    answer = client(script)("good day", samples(1, expected_behavior="says hello"))
    assert answer.overall_score == 6.0


def test_a_judge_that_does_not_exist_is_told() -> None:
    with pytest.raises(ConfigError, match="nobody:x"):
        client(verdict(1))("hi", JudgeQuestion(judge="nobody:x"))


def test_a_stopped_run_stops_the_judging() -> None:
    with pytest.raises(RunCancelledError):
        client(verdict(1), cancelled=True, parameters={"latency_ms": 5})("hi", QUESTION)
