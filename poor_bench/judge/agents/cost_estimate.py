"""Highest cost of the conversations and judgements of a plan; pure.

Nobody knows a tokenizer for every LLM, so four characters count as a token, which is what English
text comes to; a reply counts as long as it may become.
"""

from __future__ import annotations

from dataclasses import replace

from poor_bench.judge.agents.plan import JudgePlan
from poor_bench.judge.parts import parts_of
from poor_bench.judge.subject import JudgedCase, Subject, turns_of
from poor_bench.judge.token_limits import context_limit, reply_limit
from poor_bench.models.agent import AgentCase
from poor_bench.models.completion import Usage
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd

CHARACTERS_PER_TOKEN = 4
FORM_CHARACTERS = 3000
"""Length of the prompt without rubric and conversations."""


def conversation_usd(plan: JudgePlan, case: AgentCase) -> float:
    """Highest cost of one conversation in US dollars; 0.0 without prices."""
    user, agent_llm = case.simulated_user, plan.llms[plan.agent.llm_id]
    n_answers = _n_answers(case)
    said = sum(map(len, case.turns)) + len(plan.agent.system_prompt)
    total = 0.0
    for number in range(n_answers):
        total += request_usd(agent_llm, said)
        said += _most_characters(agent_llm)
        if user is not None and len(case.turns) <= number + 1 < n_answers:
            user_llm = plan.llms[user.llm_id]
            total += request_usd(user_llm, said + len(user.persona))
            said += _most_characters(user_llm)
    return total


def judgement_usd(plan: JudgePlan, judge: LLM, subject: Subject) -> float:
    """Highest cost of one judgement without repair in US dollars; 0.0 without prices.

    What is too long for one request is judged in parts, each of which tells rubric and instructions
    again and gets a reply of its own.
    """
    rubric = sum(len(item.description) for item in plan.rubric.dimensions) + len(plan.rubric.text)
    limits = reply_limit(judge.parameters), context_limit(judge.parameters)
    return sum(
        request_usd(judge, rubric + FORM_CHARACTERS + sum(map(len, part.texts())))
        for part in parts_of(subject, *limits)
    )


def plan_usd(plan: JudgePlan) -> float:
    """Highest cost of a plan in US dollars."""
    cases = () if plan.conversations else plan.cases
    total = sum(conversation_usd(plan, case) for case in cases)
    subject = plan.subject(plan.conversations)
    if not plan.conversations:
        subject = replace(subject, cases=tuple(_longest(plan, case) for case in cases))
    return total + plan.repeat * sum(judgement_usd(plan, judge, subject) for judge in plan.judges)


def request_usd(llm: LLM, n_characters: float) -> float:
    """Cost of a request and its longest reply in US dollars; 0.0 without prices."""
    usage = _usage(n_characters / CHARACTERS_PER_TOKEN, reply_limit(llm.parameters))
    return cost_usd(usage, llm.prices) or 0.0


def _longest(plan: JudgePlan, case: AgentCase) -> JudgedCase:
    """Build the longest possible conversation."""
    answer = "x" * _most_characters(plan.llms[plan.agent.llm_id])
    user = case.simulated_user
    n_more = _n_answers(case) - len(case.turns)
    made_up = ["x" * _most_characters(plan.llms[user.llm_id])] * n_more if user else []
    turns = turns_of([*case.turns, *made_up], [answer] * _n_answers(case))
    return JudgedCase(name=case.id, turns=turns, expected_behavior=case.expected_behavior)


def _n_answers(case: AgentCase) -> int:
    return max(len(case.turns), case.simulated_user.max_turns if case.simulated_user else 0)


def _usage(prompt_tokens: float, completion_tokens: int) -> Usage:
    return Usage(prompt_tokens=round(prompt_tokens), completion_tokens=completion_tokens)


def _most_characters(llm: LLM) -> int:
    return reply_limit(llm.parameters) * CHARACTERS_PER_TOKEN
