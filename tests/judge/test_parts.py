from __future__ import annotations

import json
import re
from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.judge.judge import Judge, merge_judgements
from poor_bench.judge.judgement import JudgeError
from poor_bench.judge.prompt import (
    JudgedCase,
    JudgeEvidence,
    Turn,
    count_fitting_cases,
    split_evidence,
)
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, FinishReason, Timing, Usage
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.ports import CallControl
from tests.judge.judging import LISTS, TWO
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider

PRICES = Prices(input=1.0, output=1.0)


def many(n: int, said: str = "Hello") -> JudgeEvidence:
    cases = [
        JudgedCase(name=f"case {number}", turns=(Turn("user", "Hi"), Turn("agent", said)))
        for number in range(n)
    ]
    return JudgeEvidence(cases=tuple(cases), system_prompt="Be kind.")


class CountingProvider(IdleProvider):
    """Scores tone by the number of the request, and every case by its place in it."""

    def __init__(self, most: int = 1000, failing: int = 0, cut_off_from: int = 1000) -> None:
        self.sizes: list[int] = []
        self._most = most
        self._failing = failing
        self._cut_off_from = cut_off_from

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        text = request.messages[-1].content if len(request.messages) == 2 else ""
        n_cases = len(re.findall(r"^# Case \d+$", text, re.MULTILINE))
        self.sizes.append(n_cases)
        if n_cases > self._most:
            raise ProviderError("too long", kind=FailureKind.CONTEXT_OVERFLOW)
        if len(self.sizes) == self._failing:
            raise ProviderError("no key", kind=FailureKind.AUTH)
        reply = json.dumps(self._verdict(n_cases))
        is_cut = n_cases == 0 or n_cases >= self._cut_off_from
        return Completion(
            text=reply[:20] if is_cut else reply,
            finish_reason=FinishReason.LENGTH if is_cut else FinishReason.STOP,
            usage=Usage(prompt_tokens=100, completion_tokens=10),
            timing=Timing(total_ms=5.0),
        )

    def _verdict(self, n_cases: int) -> dict[str, Any]:
        number = len(self.sizes)
        cases = [
            {"case": place, "score": place % 10, "passed": True, "feedback": f"{number}.{place}"}
            for place in range(1, n_cases + 1)
        ]
        lists = {name: ["the same", f"{name} {number}"] for name in LISTS}
        return {"scores": {"tone": number, "facts": 5}, "test_case_evaluations": cases} | lists


def judge_over(provider: CountingProvider, **parameters: Any) -> Judge:
    llm = LLM(id="openai:j", provider="openai", name="j", parameters=parameters, prices=PRICES)
    manager = LLMManager(clock=FakeClock(), create=lambda _llm, _services: provider)
    return Judge(llm, manager, TWO)


def sizes(subject: JudgeEvidence, max_tokens: int, context: int | None = None) -> list[int]:
    return [len(part.cases) for part in split_evidence(subject, max_tokens, context)]


def test_what_fits_is_judged_at_once() -> None:
    assert sizes(many(34), 4000) == [34]
    assert split_evidence(many(4), 1200, 8192) == [many(4)]


def test_more_cases_than_a_reply_has_room_for_are_divided_evenly() -> None:
    assert sizes(many(35), 4000) == [18, 17]
    assert sizes(many(120), 4000) == [30, 30, 30, 30]
    assert sizes(many(3), 100) == [1, 1, 1]
    assert count_fitting_cases(0) == 1


def test_long_conversations_are_divided_by_the_context() -> None:
    thousand_tokens = "word " * 800
    assert sizes(many(6, thousand_tokens), 1000, 4096) == [2, 2, 2]
    assert sizes(many(2, "word " * 9000), 1000, 4096) == [1, 1]


def test_no_case_is_lost_or_doubled() -> None:
    whole = many(77, "word " * 100)
    parts = split_evidence(whole, 2000, 6000)
    assert tuple(case for part in parts for case in part.cases) == whole.cases
    assert {part.system_prompt for part in parts} == {"Be kind."}


def test_a_hundred_cases_are_judged_in_parts_and_put_together() -> None:
    provider = CountingProvider()
    judgement = judge_over(provider, max_tokens=4000).judge(many(100))
    assert provider.sizes == [34, 34, 32]
    assert len(judgement.test_case_evaluations) == 100
    assert judgement.test_case_evaluations[34].feedback == "2.1"
    assert judgement.test_case_evaluations[34].test_name == "case 34"
    tone = (34 * 1 + 34 * 2 + 32 * 3) / 100
    assert judgement.scores == {"tone": tone, "facts": 5.0}
    assert judgement.overall_score == pytest.approx(0.75 * tone + 0.25 * 5, abs=0.005)
    assert judgement.strengths == ("the same", "strengths 1", "strengths 2", "strengths 3")
    assert "judged in 3 parts of 34, 34, 32 cases" in judgement.repairs
    assert (judgement.attempts, judgement.usage.prompt_tokens) == (3, 300)
    assert judgement.cost_usd == pytest.approx(330 / 1e6)


def test_what_turns_out_too_long_is_judged_in_halves() -> None:
    provider = CountingProvider(most=3)
    judgement = judge_over(provider).judge(many(8))
    assert provider.sizes == [8, 4, 2, 2, 4, 2, 2]
    assert not judgement.is_fallback
    assert [case.test_name for case in judgement.test_case_evaluations] == [
        f"case {number}" for number in range(8)
    ]
    assert judgement.attempts == 7


def test_a_reply_that_is_cut_off_is_asked_for_in_halves() -> None:
    provider = CountingProvider(cut_off_from=3)
    judgement = judge_over(provider).judge(many(4))
    assert provider.sizes == [4, 2, 2]
    assert len(judgement.test_case_evaluations) == 4
    assert judgement.usage.prompt_tokens == 300


def test_one_case_that_is_too_long_is_no_judgement() -> None:
    judgement = judge_over(CountingProvider(most=0)).judge(many(1))
    assert judgement.is_fallback
    assert "too long" in judgement.error


def test_a_part_that_cannot_be_judged_leaves_no_judgement_but_its_cost() -> None:
    judge = judge_over(CountingProvider(failing=2), max_tokens=4000)
    with pytest.raises(JudgeError, match="no key") as failed:
        judge.ask(many(60))
    fallback = failed.value.fallback
    assert fallback.is_fallback
    assert len(fallback.test_case_evaluations) == 60
    assert fallback.attempts == 2
    assert (fallback.usage.prompt_tokens, fallback.cost_usd) == (100, pytest.approx(110 / 1e6))
    assert isinstance(failed.value.__cause__, ProviderError)


def test_a_single_part_stays_as_it_is() -> None:
    judgement = judge_over(CountingProvider()).judge(many(2))
    assert merge_judgements([judgement], TWO) is judgement
    assert judgement.repairs == ()
