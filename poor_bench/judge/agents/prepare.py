"""Turn a request into a plan: agent, cases, judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.errors import ConfigError
from poor_bench.judge.agents.load import AgentShelf, rubric_of
from poor_bench.judge.agents.plan import JudgePlan, choose_cases
from poor_bench.judge.conversation.conversation import Conversation, with_rules_of
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.judge_llm import JudgeOptions, judge_llm
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.judge.panel.panel import Decision
from poor_bench.models.agent import Agent
from poor_bench.models.llm import LLM


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """Request for a judged run."""

    agent_id: str
    case_ids: tuple[str, ...] = ()
    """Empty for all cases."""
    judges: tuple[str, ...] = ()
    """LLM ids, labels or names of Claude models; the judge of the settings where empty."""
    repeat: int = 1
    decision: Decision = Decision.MEAN
    conversations_of: JudgeRun | None = None
    """A run whose conversations are judged again."""


def prepare_plan(
    request: JudgeRequest, shelf: AgentShelf, data_dir: Path, environ: Mapping[str, str]
) -> JudgePlan:
    """Plan a run without sending requests.

    Raises:
        ConfigError: If there is no such agent, case or judge, a judge is named twice or its key is
            missing, or the earlier run has no conversation that can be judged.
    """
    agent = shelf.agent(request.agent_id)
    settings = load_judge_settings(data_dir)
    earlier = request.conversations_of
    rubric, notes = rubric_of(agent)
    cases = choose_cases(agent, request.case_ids) if earlier is None else agent.cases
    return JudgePlan(
        agent=agent,
        cases=cases,
        llms=shelf.llms,
        rubric=rubric,
        threshold=_threshold(agent, settings),
        judges=judges_of(request.judges, shelf, settings, environ),
        repeat=request.repeat,
        decision=request.decision,
        conversations=() if earlier is None else _earlier(earlier, request, agent),
        conversations_of="" if earlier is None else earlier.run_id,
        notes=(*notes, *_ignored_keys(shelf)),
    )


def judges_of(
    names: tuple[str, ...],
    shelf: AgentShelf,
    settings: JudgeSettings,
    environ: Mapping[str, str],
) -> tuple[LLM, ...]:
    """Choose the judges; the default one if none is named.

    Raises:
        ConfigError: If there is no such LLM, one is named twice, or its key is missing.
    """
    wanted: tuple[str | None, ...] = names or (None,)
    listed = tuple(shelf.llms.values())
    judges = tuple(
        judge_llm(JudgeOptions(model=name), settings, listed, environ) for name in wanted
    )
    ids = [judge.id for judge in judges]
    twice = next((judge_id for judge_id in ids if ids.count(judge_id) > 1), None)
    if twice is not None:
        hint = "use `--repeat N` to ask a judge several times"
        raise ConfigError(f"the judge {twice} is named twice", hint=hint)
    return judges


def _ignored_keys(shelf: AgentShelf) -> tuple[str, ...]:
    """Name keys such as `not_contains`: a rule under a wrong name would guard nothing."""
    return tuple(str(problem) for problem in shelf.problems if problem.code == "unknown-key")


def _threshold(agent: Agent, settings: JudgeSettings) -> float:
    limits = (agent.threshold, settings.threshold, APPROVAL_THRESHOLD)
    return next(limit for limit in limits if limit is not None)


def _earlier(run: JudgeRun, request: JudgeRequest, agent: Agent) -> tuple[Conversation, ...]:
    """Choose conversations of an earlier run; rules are those of the agent's file today."""
    cases = {case.id: case for case in agent.cases}
    if run.header.agent_id != request.agent_id:
        raise ConfigError(f"{run.run_id} is a run of another agent: {run.header.agent_id}")
    chosen = tuple(
        with_rules_of(cases[talk.case_id], talk) if talk.case_id in cases else talk
        for talk in run.conversations
        if talk.failure is None and (not request.case_ids or talk.case_id in request.case_ids)
    )
    if not chosen:
        raise ConfigError(f"{run.run_id} has no complete conversation of these cases")
    return chosen
