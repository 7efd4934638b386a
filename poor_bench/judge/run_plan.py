"""Plan of a judged run; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poor_bench.calls.budget import find_unpriced
from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import Conversation, apply_rules
from poor_bench.judge.judged_run import JudgeRun, RunHeader
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.judge.panel import PanelDecision
from poor_bench.judge.prompt import (
    JudgedCase,
    JudgeEvidence,
    build_turns,
    find_context_limit,
    find_reply_limit,
    split_evidence,
)
from poor_bench.judge.registry import AgentRegistry, choose_judges, read_rubric
from poor_bench.judge.rubric import Rubric
from poor_bench.models.agent import Agent, AgentCase
from poor_bench.models.completion import Usage, cost_usd
from poor_bench.models.llm import LLM, build_base_llm_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    """Conversations, judges and rubric of a run."""

    agent: Agent
    cases: tuple[AgentCase, ...]
    llms: Mapping[str, LLM]
    """LLMs by id: the agent's and those of its simulated users."""
    rubric: Rubric
    threshold: float = APPROVAL_THRESHOLD
    """Lowest overall score, 0.0 to 10.0, that approves the agent."""
    judges: tuple[LLM, ...]
    repeat: int = 1
    """Judgements per judge, at least 1."""
    decision: PanelDecision = PanelDecision.MEAN
    conversations: tuple[Conversation, ...] = ()
    """Conversations of an earlier run, to be judged instead of new ones."""
    conversations_of: str = ""
    """Id of that run."""
    resumed: JudgeRun | None = None
    """The stored run to go on with, without what failed in it."""
    notes: tuple[str, ...] = ()
    """Corrections of the rubric, and keys of agents' files that nothing reads."""
    skipped: tuple[str, ...] = ()
    """Problems of agents' files that are left out."""

    @property
    def asked(self) -> tuple[LLM, ...]:
        """All models of the run: the agent's, its simulated users' and the judges."""
        users = [case.simulated_user for case in self.cases if case.simulated_user is not None]
        ids = dict.fromkeys([self.agent.llm_id, *(user.llm_id for user in users)])
        talking = tuple(self.llms[llm_id] for llm_id in ids) if self.n_conversations else ()
        return (*talking, *self.judges)

    @property
    def n_steps(self) -> int:
        """Number of conversations and judgements, including those of an earlier run."""
        return self.n_conversations + len(self.conversations_left) + self.n_judgements

    @property
    def n_conversations(self) -> int:
        """Number of conversations to hold."""
        return len(self.cases_left)

    @property
    def n_judgements(self) -> int:
        """Number of judgements to make."""
        return sum(map(self.n_judgements_by, self.judges))

    def n_judgements_by(self, judge: LLM) -> int:
        """Number of judgements to make by one judge."""
        made = self.resumed.usable_judgements if self.resumed else ()
        return max(0, self.repeat - sum(item.judge == judge.id for item in made))

    @property
    def cases_left(self) -> tuple[AgentCase, ...]:
        """Cases whose conversation is to be held."""
        if self.conversations:
            return ()
        return tuple(case for case in self.cases if case.id not in self._held_ids)

    @property
    def conversations_left(self) -> tuple[Conversation, ...]:
        """Conversations of an earlier run that are not in this one yet."""
        return tuple(talk for talk in self.conversations if talk.case_id not in self._held_ids)

    @property
    def _held_ids(self) -> frozenset[str]:
        held = self.resumed.conversations if self.resumed else ()
        return frozenset(talk.case_id for talk in held)

    def header(self, run_id: str, started: str) -> RunHeader:
        """Build the header of the run."""
        agent, rubric = self.agent, self.rubric
        return RunHeader(
            run_id=run_id,
            started=started,
            agent_id=agent.id,
            agent_name=agent.name,
            llm_id=agent.llm_id,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            threshold=self.threshold,
            rubric_name=rubric.name,
            rubric_hash=rubric.hash,
            weights={dimension.name: dimension.weight for dimension in rubric.dimensions},
            n_cases=len(self.conversations or self.cases),
            case_ids=tuple(talk.case_id for talk in self.conversations)
            or tuple(case.id for case in self.cases),
            judges=tuple(judge.id for judge in self.judges),
            repeat=self.repeat,
            decision=self.decision.value,
            conversations_of=self.conversations_of,
        )

    def evidence(self, conversations: Sequence[Conversation]) -> JudgeEvidence:
        """Build the evidence for the judges."""
        agent, llm = self.agent, self.llms[self.agent.llm_id]
        return JudgeEvidence(
            cases=tuple(conversation.as_case() for conversation in conversations),
            description=agent.description,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            written_by=build_base_llm_id(llm.provider, llm.name),
        )


def choose_cases(agent: Agent, case_ids: Sequence[str]) -> tuple[AgentCase, ...]:
    """Select cases of an agent by id, in its order; all if no id is given.

    Raises:
        ConfigError: If the agent has no such case.
    """
    known = [case.id for case in agent.cases]
    for case_id in case_ids:
        if case_id not in known:
            hint = name_hint(case_id, known)
            raise ConfigError(f"{agent.id} has no case {case_id!r}", hint=hint)
    return tuple(case for case in agent.cases if not case_ids or case.id in case_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """Request for a judged run."""

    agent_id: str
    case_ids: tuple[str, ...] = ()
    """Empty for all cases."""
    judges: tuple[str, ...] = ()
    """LLM ids, labels or names of Claude models; the judge of the settings where empty."""
    repeat: int = 1
    decision: PanelDecision = PanelDecision.MEAN
    conversations_of: JudgeRun | None = None
    """A run whose conversations are judged again."""
    resumed: JudgeRun | None = None
    """A run to go on with."""


def resume_request(run: JudgeRun, conversations_of: JudgeRun | None) -> JudgeRequest:
    """Build the request that goes on with a stored run.

    Args:
        run: Interrupted, or with failures.
        conversations_of: The run that its header names, if it names one.
    """
    header = run.header
    return JudgeRequest(
        agent_id=header.agent_id,
        case_ids=header.case_ids,
        judges=header.judges,
        repeat=header.repeat,
        decision=PanelDecision(header.decision),
        conversations_of=conversations_of,
        resumed=run,
    )


def prepare_plan(
    request: JudgeRequest, registry: AgentRegistry, data_dir: Path, environ: Mapping[str, str]
) -> JudgePlan:
    """Plan a run without sending requests.

    Raises:
        ConfigError: If an agent, case or judge does not exist, a judge is named twice or its key is
            missing, or the earlier run has no conversation that can be judged.
    """
    agent = registry.agent(request.agent_id)
    settings = load_judge_settings(data_dir)
    earlier = request.conversations_of
    rubric, notes = read_rubric(agent)
    cases = choose_cases(agent, request.case_ids) if earlier is None else agent.cases
    plan = JudgePlan(
        agent=agent,
        cases=cases,
        llms=registry.llms,
        rubric=rubric,
        threshold=_choose_threshold(agent, settings),
        judges=choose_judges(request.judges, registry, settings, environ),
        repeat=request.repeat,
        decision=request.decision,
        conversations=() if earlier is None else _find_earlier(earlier, request, agent),
        conversations_of="" if earlier is None else earlier.run_id,
        resumed=None if request.resumed is None else request.resumed.reopen(),
        notes=(*notes, *_list_ignored_keys(registry)),
        skipped=tuple(str(each) for of_file in registry.broken.values() for each in of_file),
    )
    if request.resumed is not None:
        _require_unchanged(plan, request.resumed)
    return plan


def _require_unchanged(plan: JudgePlan, run: JudgeRun) -> None:
    """Refuse to mix what was judged under different settings.

    Raises:
        ConfigError: If the run would not be started in the same way today.
    """
    before, now = run.header, plan.header(run.run_id, run.header.started)
    changed = [
        what
        for what, is_same in {
            "model": before.llm_id == now.llm_id,
            "instructions": before.system_prompt == now.system_prompt,
            "rubric": before.rubric_hash == now.rubric_hash,
            "cases": before.case_ids == now.case_ids,
            "threshold": before.threshold == now.threshold,
        }.items()
        if not is_same
    ]
    if changed:
        raise ConfigError(
            f"cannot resume {run.run_id}: {', '.join(changed)} of {before.agent_id} changed since",
            hint="Start a new run without --resume.",
        )


def _list_ignored_keys(registry: AgentRegistry) -> tuple[str, ...]:
    """Name keys such as `not_contains`: a rule under a wrong name would guard nothing."""
    return tuple(str(problem) for problem in registry.problems if problem.code == "unknown-key")


def _choose_threshold(agent: Agent, settings: JudgeSettings) -> float:
    limits = (agent.threshold, settings.threshold, APPROVAL_THRESHOLD)
    return next(limit for limit in limits if limit is not None)


def _find_earlier(run: JudgeRun, request: JudgeRequest, agent: Agent) -> tuple[Conversation, ...]:
    """Choose conversations of an earlier run; rules are those of the agent's file today."""
    cases = {case.id: case for case in agent.cases}
    if run.header.agent_id != request.agent_id:
        raise ConfigError(f"{run.run_id} is a run of another agent: {run.header.agent_id}")
    chosen = tuple(
        apply_rules(cases[talk.case_id], talk) if talk.case_id in cases else talk
        for talk in run.conversations
        if talk.failure is None and (not request.case_ids or talk.case_id in request.case_ids)
    )
    if not chosen:
        raise ConfigError(f"{run.run_id} has no complete conversation of these cases")
    return chosen


CHARACTERS_PER_TOKEN = 4
FORM_CHARACTERS = 3000
"""Length of the prompt without rubric and conversations."""


def estimate_conversation_usd(plan: JudgePlan, case: AgentCase) -> float:
    """Highest cost of one conversation in US dollars; 0.0 without prices."""
    user, agent_llm = case.simulated_user, plan.llms[plan.agent.llm_id]
    n_answers = _count_answers(case)
    said = sum(map(len, case.turns)) + len(plan.agent.system_prompt)
    total = 0.0
    for number in range(n_answers):
        total += estimate_request_usd(agent_llm, said)
        said += _count_most_characters(agent_llm)
        if user is not None and len(case.turns) <= number + 1 < n_answers:
            user_llm = plan.llms[user.llm_id]
            total += estimate_request_usd(user_llm, said + len(user.persona))
            said += _count_most_characters(user_llm)
    return total


def estimate_judgement_usd(plan: JudgePlan, judge: LLM, evidence: JudgeEvidence) -> float:
    """Highest cost of one judgement without repair in US dollars; 0.0 without prices.

    What is too long for one request is judged in parts, each of which tells rubric and instructions
    again and gets a reply of its own.
    """
    rubric = sum(len(item.description) for item in plan.rubric.dimensions) + len(plan.rubric.text)
    limits = find_reply_limit(judge.parameters), find_context_limit(judge.parameters)
    return sum(
        estimate_request_usd(judge, rubric + FORM_CHARACTERS + sum(map(len, part.texts())))
        for part in split_evidence(evidence, *limits)
    )


def estimate_plan_usd(plan: JudgePlan) -> float:
    """Highest cost of a plan in US dollars."""
    cases = plan.cases_left
    total = sum(estimate_conversation_usd(plan, case) for case in cases)
    held = (*(plan.resumed.conversations if plan.resumed else ()), *plan.conversations_left)
    evidence = plan.evidence(held)
    longest = tuple(_find_longest(plan, case) for case in cases)
    evidence = replace(evidence, cases=(*evidence.cases, *longest))
    return total + sum(
        plan.n_judgements_by(judge) * estimate_judgement_usd(plan, judge, evidence)
        for judge in plan.judges
    )


def find_plan_usd(plan: JudgePlan, is_local: Callable[[LLM], bool]) -> float | None:
    """Highest cost of a plan in US dollars; None where a price is unknown.

    Args:
        plan: Of a judged run.
        is_local: Tells if a model costs nothing without a price.
    """
    return None if find_unpriced(plan.asked, is_local) else estimate_plan_usd(plan)


def estimate_request_usd(llm: LLM, n_characters: float) -> float:
    """Cost of a request and its longest reply in US dollars; 0.0 without prices."""
    usage = _estimate_usage(n_characters / CHARACTERS_PER_TOKEN, find_reply_limit(llm.parameters))
    return cost_usd(usage, llm.prices) or 0.0


def _find_longest(plan: JudgePlan, case: AgentCase) -> JudgedCase:
    """Build the longest possible conversation."""
    answer = "x" * _count_most_characters(plan.llms[plan.agent.llm_id])
    user = case.simulated_user
    n_more = _count_answers(case) - len(case.turns)
    made_up = ["x" * _count_most_characters(plan.llms[user.llm_id])] * n_more if user else []
    turns = build_turns([*case.turns, *made_up], [answer] * _count_answers(case))
    return JudgedCase(name=case.id, turns=turns, expected_behavior=case.expected_behavior)


def _count_answers(case: AgentCase) -> int:
    return max(len(case.turns), case.simulated_user.max_turns if case.simulated_user else 0)


def _estimate_usage(prompt_tokens: float, completion_tokens: int) -> Usage:
    return Usage(prompt_tokens=round(prompt_tokens), completion_tokens=completion_tokens)


def _count_most_characters(llm: LLM) -> int:
    return find_reply_limit(llm.parameters) * CHARACTERS_PER_TOKEN
