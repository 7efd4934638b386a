from __future__ import annotations

from dataclasses import replace

import pytest

from poor_bench.judge.prompt import JudgeEvidence
from poor_bench.judge.rubric import DEFAULT_RUBRIC
from poor_bench.judge.run_plan import (
    JudgePlan,
    estimate_conversation_usd,
    estimate_judgement_usd,
    estimate_plan_usd,
)
from poor_bench.models.agent import Agent, AgentCase, SimulatedUser
from poor_bench.models.llm import LLM, Prices

PRICED = Prices(input=4.0, output=8.0)
AGENT_LLM = LLM(id="a", provider="openai", name="a", prices=PRICED, parameters={"max_tokens": 100})
JUDGE = LLM(id="j", provider="openai", name="j", prices=PRICED, parameters={"max_tokens": 1000})
CASE = AgentCase(id="x", turns=("four" * 10,))
AGENT = Agent(id="a", name="A", system_prompt="s" * 40, llm_id="a", cases=(CASE,))
PLAN = JudgePlan(
    agent=AGENT, cases=(CASE,), llms={"a": AGENT_LLM}, rubric=DEFAULT_RUBRIC, judges=(JUDGE,)
)


def test_conversation_counts_its_prompt_and_its_longest_reply() -> None:
    # 80 characters are 20 tokens at 4 $, and 100 tokens at 8 $ per million.
    assert estimate_conversation_usd(PLAN, CASE) == pytest.approx((20 * 4 + 100 * 8) / 1e6)


def test_every_further_turn_sends_all_that_was_said() -> None:
    two = replace(CASE, turns=("four" * 5, "four" * 5))
    extra = (20 + 100) * 4 + 100 * 8
    assert estimate_conversation_usd(PLAN, two) == pytest.approx(
        estimate_conversation_usd(PLAN, CASE) + extra / 1e6
    )


def test_simulated_user_costs_too() -> None:
    user = SimulatedUser(persona="p" * 40, llm_id="a", max_turns=2)
    with_user = estimate_conversation_usd(PLAN, replace(CASE, simulated_user=user))
    by_user = ((20 + 100 + 10) * 4 + 100 * 8) / 1e6
    second_answer = ((20 + 200) * 4 + 100 * 8) / 1e6
    assert with_user == pytest.approx(
        estimate_conversation_usd(PLAN, CASE) + by_user + second_answer
    )


def test_plan_is_no_cheaper_than_its_parts_and_grows_with_repeats() -> None:
    blank = estimate_judgement_usd(PLAN, JUDGE, JudgeEvidence(cases=()))
    assert blank > 1000 * 8 / 1e6
    once, thrice = estimate_plan_usd(PLAN), estimate_plan_usd(replace(PLAN, repeat=3))
    assert once > estimate_conversation_usd(PLAN, CASE) + blank
    assert thrice - once == pytest.approx(2 * (once - estimate_conversation_usd(PLAN, CASE)))


def test_every_part_that_a_context_is_too_small_for_costs_a_reply() -> None:
    cases = tuple(replace(CASE, id=str(number), turns=("four" * 500,)) for number in range(4))
    plan = replace(PLAN, cases=cases, llms={"a": replace(AGENT_LLM, prices=Prices())})
    narrow = replace(JUDGE, parameters={"max_tokens": 1000, "num_ctx": 2400})
    more = estimate_plan_usd(replace(plan, judges=(narrow,))) - estimate_plan_usd(plan)
    assert more > 3 * 1000 * 8 / 1e6


def test_llms_without_prices_cost_nothing() -> None:
    free = replace(AGENT_LLM, prices=Prices())
    plan = replace(PLAN, llms={"a": free}, judges=(replace(JUDGE, prices=Prices()),))
    assert estimate_plan_usd(plan) == 0.0
