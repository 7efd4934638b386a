from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import JudgeError, judgement_from_dict
from poor_bench.judge.rubric import DEFAULT_RUBRIC, parse_rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.ports import CallControl
from tests.judge.judging import TWO, as_json, scripted_judge, scripted_llm, subject, verdict
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider


class RecordingProvider(IdleProvider):
    """Answers with given texts, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        self.requests.append(request)
        return Completion(text=self.replies.pop(0), timing=Timing(total_ms=5.0))


def recorded_judge(provider: RecordingProvider, **parameters: Any) -> Judge:
    llm = LLM(id="openai:j", provider="openai", name="j", parameters=parameters)
    manager = LLMManager(clock=FakeClock(), create=lambda _llm, _services: provider)
    return Judge(llm, manager, TWO)


def test_a_good_reply_is_a_judgement_at_the_first_attempt() -> None:
    judgement = scripted_judge(as_json(tone=8, facts=4, strengths=["kind"])).judge(subject())
    assert judgement.overall_score == 7.0
    assert judgement.scores == {"tone": 8.0, "facts": 4.0}
    assert judgement.strengths == ("kind",)
    assert (judgement.attempts, judgement.is_fallback, judgement.warnings) == (1, False, ())
    assert judgement.rubric_hash == TWO.hash
    assert judgement_from_dict(json.loads(json.dumps(judgement.as_dict()))) == judgement


def test_a_bad_reply_is_sent_back_with_the_error_once() -> None:
    provider = RecordingProvider("Looks good to me!", as_json())
    judgement = recorded_judge(provider).judge(subject())
    assert (judgement.attempts, judgement.is_fallback) == (2, False)
    first, second = provider.requests
    assert second.messages[:-2] == first.messages
    assert second.messages[-2].content == "Looks good to me!"
    assert "no JSON object" in second.messages[-1].content


def test_two_bad_replies_are_the_fallback() -> None:
    judgement = scripted_judge(["no", "never", as_json()]).judge(subject())
    assert (judgement.overall_score, judgement.is_fallback, judgement.attempts) == (5.0, True, 2)
    assert judgement.scores == {"tone": 5.0, "facts": 5.0}
    assert "is not valid" in judgement.error
    assert judgement.reply == "never"


def test_a_missing_dimension_is_asked_for_and_then_filled_in() -> None:
    incomplete = json.dumps({**verdict(), "scores": {"tone": 8}})
    judgement = scripted_judge([incomplete, "no"]).judge(subject())
    assert (judgement.attempts, judgement.is_fallback) == (2, False)
    assert judgement.scores == {"tone": 8.0, "facts": 5.0}
    assert "scores.facts is missing: 5 used instead" in judgement.warnings


def test_cases_that_the_judge_leaves_out_are_asked_for_once_more() -> None:
    evaluation = {"case": 2, "score": 9, "passed": True, "feedback": "warm"}
    lacking = json.dumps({**verdict(), "test_case_evaluations": [evaluation, evaluation]})
    whole = json.dumps(
        {**verdict(), "test_case_evaluations": [evaluation, {**evaluation, "case": 1, "score": 3}]}
    )
    two = subject()
    two = replace(two, cases=(*two.cases, replace(two.cases[0], name="second")))
    asked_again = scripted_judge([lacking, whole]).judge(two)
    assert [case.score for case in asked_again.test_case_evaluations] == [3.0, 9.0]
    assert (asked_again.attempts, asked_again.repairs) == (2, ())
    left_out = scripted_judge([lacking, lacking]).judge(two)
    assert [case.test_name for case in left_out.scored_cases] == ["second"]
    first = left_out.as_dict()["test_case_evaluations"][0]
    assert (first["passed"], first["is_unscored"]) == (False, True)
    assert judgement_from_dict(left_out.as_dict()) == left_out


def test_the_score_of_a_single_case_is_not_worth_another_request() -> None:
    lacking = json.dumps({**verdict(), "test_case_evaluations": []})
    judgement = scripted_judge([lacking, as_json()]).judge(subject())
    assert (judgement.attempts, judgement.scored_cases) == (1, ())


def test_of_two_incomplete_replies_the_better_one_counts() -> None:
    rubric, _ = parse_rubric("### A (40%)\n### B (30%)\n### C (30%)")
    replies = ['{"scores": {"a": 1, "b": 2}}', '{"scores": {"a": 9}}']
    judgement = scripted_judge(replies, rubric).judge(subject())
    assert judgement.scores == {"a": 1.0, "b": 2.0, "c": 5.0}


def test_what_can_be_used_is_used_where_the_repair_cannot_be_asked_for() -> None:
    replies = ['{"scores": {"tone": 8}}', {"failure": "auth", "message": "key withdrawn"}]
    judgement = scripted_judge(replies).judge(subject())
    assert (judgement.attempts, judgement.is_fallback) == (2, False)
    assert judgement.scores == {"tone": 8.0, "facts": 5.0}


def test_a_failure_of_the_api_is_the_fallback_and_approves_nothing() -> None:
    judge = scripted_judge([{"failure": "auth", "message": "key refused"}])
    judgement = judge.judge(subject())
    assert (judgement.overall_score, judgement.is_fallback) == (5.0, True)
    assert "key refused" in judgement.error
    assert not judgement.is_approved
    assert not replace(judgement, threshold=1.0).is_approved
    assert [case.passed for case in judgement.test_case_evaluations] == [False]


def test_a_failure_that_passes_is_no_failure() -> None:
    judgement = scripted_judge([{"failure": "rate_limited"}, as_json()]).judge(subject())
    assert not judgement.is_fallback


def test_asking_raises_where_judging_falls_back() -> None:
    judge = scripted_judge([{"failure": "quota", "message": "no money"}])
    with pytest.raises(JudgeError) as caught:
        judge.ask(subject())
    assert caught.value.kind is FailureKind.JUDGE
    assert isinstance(caught.value.__cause__, ProviderError)
    assert caught.value.fallback.is_fallback


def test_a_cancelled_run_is_no_judgement() -> None:
    with pytest.raises(RunCancelledError):
        scripted_judge(as_json(), parameters={"latency_ms": 5}).judge(subject(), lambda: True)


def test_a_prompt_that_was_cut_by_the_server_is_no_judgement() -> None:
    judge = scripted_judge([{"text": as_json(), "prompt_truncated": True}])
    assert "context is too small" in judge.judge(subject()).error


def test_usage_and_cost_are_those_of_all_attempts() -> None:
    replies = [
        {"text": text, "prompt_tokens": 1000, "completion_tokens": 100}
        for text in ("no", as_json())
    ]
    judge = scripted_judge(replies, prices=Prices(input=1.0, output=10.0))
    judgement = judge.judge(subject())
    assert (judgement.usage.prompt_tokens, judgement.usage.completion_tokens) == (2000, 200)
    assert judgement.cost_usd == pytest.approx(0.004)


def test_what_a_bad_judge_cost_is_known_too() -> None:
    replies = [{"text": "no", "prompt_tokens": 1000, "completion_tokens": 100}]
    judge = scripted_judge(replies, prices=Prices(input=1.0, output=10.0))
    assert judge.judge(subject()).cost_usd == pytest.approx(0.004)


def test_a_truncated_reply_says_so() -> None:
    judge = scripted_judge([{"text": '{"verdict', "finish_reason": "length"}])
    assert "finish reason: length" in judge.judge(subject()).error


@pytest.mark.parametrize(
    ("own", "temperature", "max_tokens"),
    [({}, 0.3, 4000), ({"temperature": 0, "max_tokens": 100}, 0, 100)],
)
def test_settings_of_the_llm_come_before_the_defaults(
    own: dict[str, Any], temperature: float, max_tokens: int
) -> None:
    provider = RecordingProvider(as_json())
    recorded_judge(provider, **own).judge(subject())
    sent = provider.requests[0].parameters
    assert (sent["temperature"], sent["max_tokens"]) == (temperature, max_tokens)


def test_a_reply_of_the_right_form_is_asked_for() -> None:
    provider = RecordingProvider(as_json())
    recorded_judge(provider, response_format="class").judge(subject())
    schema = provider.requests[0].parameters["response_format"]["schema"]
    assert list(schema["properties"]["scores"]["properties"]) == ["tone", "facts"]
    (code,) = schema["properties"]["verdict_id"]["enum"]
    assert code in provider.requests[0].messages[0].content


def test_the_judge_is_not_told_who_wrote_it() -> None:
    provider = RecordingProvider(as_json())
    recorded_judge(provider).judge(subject(written_by="ollama:gemma3:1b"))
    told = "".join(message.content for message in provider.requests[0].messages)
    assert "gemma" not in told


@pytest.mark.parametrize(
    ("writer", "is_self_judged"),
    [
        ("scripted:j", True),
        ("scripted:j:false", True),
        ("scripted:other", False),
        ("", False),
    ],
)
def test_judging_its_own_responses_is_flagged(writer: str, is_self_judged: bool) -> None:
    judgement = scripted_judge(as_json()).judge(subject(written_by=writer))
    assert judgement.is_self_judged is is_self_judged


def test_approval_needs_the_threshold() -> None:
    llm = scripted_llm(as_json(tone=9, facts=9))
    for threshold, approved in [(9.0, True), (9.01, False)]:
        judge = Judge(llm, LLMManager(clock=FakeClock()), TWO, threshold=threshold)
        assert judge.judge(subject()).is_approved is approved


def test_the_default_rubric_is_used_where_none_is_given() -> None:
    judge = Judge(scripted_llm("no"), LLMManager(clock=FakeClock()))
    assert set(judge.judge(subject()).scores) == set(DEFAULT_RUBRIC.names)


def test_a_judge_without_advice_asks_for_none_and_misses_none() -> None:
    provider = RecordingProvider('{"scores": {"tone": 8, "facts": 4}}')
    llm = LLM(id="openai:j", provider="openai", name="j")
    manager = LLMManager(clock=FakeClock(), create=lambda _llm, _services: provider)
    judgement = Judge(llm, manager, TWO, advice=()).judge(subject())
    schema = provider.requests[0].parameters["response_format"]["schema"]
    assert "strengths" not in schema["properties"]
    assert not any("strengths" in warning for warning in judgement.warnings)
