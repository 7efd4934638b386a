"""What a run will cost, told before it begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from poor_bench.config.load import Workspace
from poor_bench.judge.response_judging import WorkspaceJudges
from poor_bench.models.llm import LLM
from poor_bench.prompts.request import build_request
from poor_bench.runner.jobs import JudgeItem
from poor_bench.runner.plan import Plan, WorkItem
from poor_bench.runner.scorer import Scorer
from poor_bench.scoring.cost import estimated_cost_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """About what a run will cost; prompts are counted by their length, replies by experience."""

    usd: float
    """Of all LLMs and judges together whose prices are known."""
    unpriced: tuple[LLM, ...]
    """LLMs and judges whose prices are not known, as of all local ones."""


def estimate_cost(
    plan: Plan, workspace: Workspace, scorer: Scorer, judges: WorkspaceJudges
) -> CostEstimate:
    """Return about what a plan will cost; nobody is asked.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    items = (item for work in plan.works for item in work.items())
    return _summed(cost for item in items for cost in costs_of(item, workspace, scorer, judges))


def estimate_judging(
    waiting: Iterable[JudgeItem], scorer: Scorer, judges: WorkspaceJudges
) -> CostEstimate:
    """Return about what judging stored responses will cost; nobody is asked.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    return _summed(
        (judges.llm_of(question), judges.estimated_cost_usd(question, item.result.prompt))
        for item in waiting
        for question in scorer.questions(item.test)
    )


def _summed(costs: Iterable[tuple[LLM, float | None]]) -> CostEstimate:
    totals: defaultdict[str, float] = defaultdict(float)
    llms: dict[str, LLM] = {}
    for llm, usd in costs:
        llms[llm.id] = llm
        if usd is not None:
            totals[llm.id] += usd
    unpriced = tuple(llm for llm_id, llm in llms.items() if llm_id not in totals)
    return CostEstimate(usd=sum(totals.values()), unpriced=unpriced)


def costs_of(
    item: WorkItem, workspace: Workspace, scorer: Scorer, judges: WorkspaceJudges
) -> Iterator[tuple[LLM, float | None]]:
    """Yield the LLM of a trial, then its judges, each with US dollars or None without a price.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    request = build_request(item.llm, workspace.test_classes[item.test.class_id], item.test)
    limit = request.parameters.get("max_tokens")
    max_tokens = limit if isinstance(limit, int) else None
    yield item.llm, estimated_cost_usd(item.llm.prices, request.messages, max_tokens)
    for question in scorer.questions(item.test):
        prompt = request.messages[-1].content
        yield judges.llm_of(question), judges.estimated_cost_usd(question, prompt)
