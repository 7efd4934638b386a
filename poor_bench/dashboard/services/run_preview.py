"""What a run would do, how long it would take and what it would cost: from stored results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.class_means import ClassMeans, Means
from poor_bench.errors import PoorBenchError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Usage
from poor_bench.runner.lanes import lanes_of
from poor_bench.runner.plan import LLMWork, Plan
from poor_bench.runner.states import TrialState
from poor_bench.scoring.cost import cost_usd

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMPreview:
    """What a run would ask of one LLM."""

    llm_id: str
    n_items: int
    """Trials to be asked."""
    n_failed: int
    """Trials among them that failed to run before."""
    n_rescored: int
    """Stored responses to be scored again without asking."""
    seconds: float | None
    """None where no stored result says how long such tests take this LLM."""
    cost_usd: float | None
    """0.0 on this machine; None where price or tokens are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPreview:
    """What a run would do."""

    llms: tuple[LLMPreview, ...]
    seconds: float | None
    """Until the last LLM is done; LLMs of one local endpoint run after each other. None where the
    time of an LLM is not known."""
    cost_usd: float | None

    @property
    def n_items(self) -> int:
        """Trials to be asked."""
        return sum(llm.n_items for llm in self.llms)

    @property
    def n_rescored(self) -> int:
        """Stored responses to be scored again without asking."""
        return sum(llm.n_rescored for llm in self.llms)


def preview_run(plan: Plan, manager: LLMManager, means: ClassMeans) -> RunPreview:
    """Return what a plan means in numbers, time and money.

    Args:
        plan: What a run would do.
        manager: Knows which LLMs share an endpoint and how many requests it takes at once.
        means: What stored results say about time and tokens.
    """
    works = {work.llm.id: work for work in plan.works}
    llms = tuple(
        _llm_preview(plan, index, works.get(llm.id), manager, means)
        for index, llm in enumerate(plan.states.llms)
    )
    shown = tuple(llm for llm in llms if llm.n_items or llm.n_rescored)
    seconds = {llm.llm_id: llm.seconds for llm in shown}
    lanes = [
        _sum([seconds[work.llm.id] for work in lane]) for lane in lanes_of(plan.works, manager)
    ]
    return RunPreview(
        llms=shown,
        seconds=None if None in lanes else max((lane for lane in lanes if lane), default=0.0),
        cost_usd=_sum([llm.cost_usd for llm in shown]),
    )


def _llm_preview(
    plan: Plan, index: int, work: LLMWork | None, manager: LLMManager, means: ClassMeans
) -> LLMPreview:
    llm = plan.states.llms[index]
    counts = plan.states.count(index)
    classes = Counter(item.test.class_id for item in work.items()) if work else Counter[str]()
    per_class = [(n_items, means.of(llm.id, class_id)) for class_id, n_items in classes.items()]
    busy_s = _sum([_seconds(n_items, mean) for n_items, mean in per_class])
    return LLMPreview(
        llm_id=llm.id,
        n_items=len(work) if work else 0,
        n_failed=counts[TrialState.FAILED] if work else 0,
        n_rescored=counts[TrialState.STALE_SCORE] if plan.rescore else 0,
        seconds=None if busy_s is None else busy_s / _concurrency(manager, llm),
        cost_usd=_cost(per_class, llm, manager),
    )


def _seconds(n_items: int, mean: Means) -> float | None:
    return None if mean.seconds is None else n_items * mean.seconds


def _cost(per_class: Sequence[tuple[int, Means]], llm: LLM, manager: LLMManager) -> float | None:
    if llm.prices.output is None and llm.prices.input is None:
        return 0.0 if manager.is_local(llm) else None
    costs = []
    for n_items, mean in per_class:
        usage = Usage(prompt_tokens=mean.prompt_tokens, completion_tokens=mean.completion_tokens)
        cost = cost_usd(usage, llm.prices)
        costs.append(None if cost is None else n_items * cost)
    return _sum(costs)


def _concurrency(manager: LLMManager, llm: LLM) -> int:
    try:
        return manager.concurrency(llm)
    except PoorBenchError:
        return 1


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum, or None where one of the values is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
