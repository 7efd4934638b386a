"""What the conversations and judgements of a plan will cost at most; pure.

Nobody knows a tokenizer for every LLM, so four characters count as a token, which is what English
text comes to; a reply counts as long as it may become.
"""

from __future__ import annotations

import math

from poor_bench.judge.agents.plan import JudgePlan
from poor_bench.judge.judge import DEFAULT_MAX_TOKENS
from poor_bench.judge.parts import most_cases
from poor_bench.judge.subject import Subject
from poor_bench.models.agent import AgentCase
from poor_bench.models.completion import Usage
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd

CHARACTERS_PER_TOKEN = 4
FORM_CHARACTERS = 3000
"""What a judge is told beside rubric and conversations."""


def conversation_usd(plan: JudgePlan, case: AgentCase) -> float:
    """Return US dollars for one conversation; 0.0 for LLMs without prices."""
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
    """Return US dollars for one judgement without a repair; 0.0 for a judge without prices.

    Many cases are judged in several requests, each of which tells rubric and instructions again.
    """
    rubric = sum(len(item.description) for item in plan.rubric.dimensions) + len(plan.rubric.text)
    told_again = rubric + len(subject.system_prompt) + FORM_CHARACTERS
    n_cases = len(subject.cases) or len(plan.cases)
    n_parts = math.ceil(n_cases / most_cases(_max_tokens(judge)))
    whole = request_usd(judge, told_again + sum(map(len, subject.texts())))
    return whole + (n_parts - 1) * request_usd(judge, told_again)


def plan_usd(plan: JudgePlan) -> float:
    """Return US dollars for a whole plan, before anything was said."""
    cases = () if plan.conversations else plan.cases
    total = sum(conversation_usd(plan, case) for case in cases)
    llm = plan.llms[plan.agent.llm_id]
    n_answers = sum(_n_answers(case) for case in cases)
    unsaid = n_answers * _most_characters(llm) / CHARACTERS_PER_TOKEN
    subject = plan.subject(plan.conversations)
    for judge in plan.judges:
        shown = judgement_usd(plan, judge, subject)
        later = cost_usd(_usage(unsaid, 0), judge.prices) or 0.0
        total += plan.repeat * (shown + later)
    return total


def request_usd(llm: LLM, n_characters: float) -> float:
    """Return US dollars for a request of some length and its longest reply; 0.0 without prices."""
    usage = _usage(n_characters / CHARACTERS_PER_TOKEN, _max_tokens(llm))
    return cost_usd(usage, llm.prices) or 0.0


def _n_answers(case: AgentCase) -> int:
    return max(len(case.turns), case.simulated_user.max_turns if case.simulated_user else 0)


def _usage(prompt_tokens: float, completion_tokens: int) -> Usage:
    return Usage(prompt_tokens=round(prompt_tokens), completion_tokens=completion_tokens)


def _max_tokens(llm: LLM) -> int:
    limit = llm.parameters.get("max_tokens")
    return limit if isinstance(limit, int) else DEFAULT_MAX_TOKENS


def _most_characters(llm: LLM) -> int:
    return _max_tokens(llm) * CHARACTERS_PER_TOKEN
