"""About what the trials of one LLM will cost, judging included: by experience, else by length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from poor_bench.models.completion import Usage
from poor_bench.models.llm import LLM
from poor_bench.runner.plan import WorkItem
from poor_bench.scoring.cost import cost_usd

if TYPE_CHECKING:
    from poor_bench.results.figures import Means

CostsOf = Callable[[WorkItem], Iterable[tuple[LLM, float | None]]]
_LOOKED_AT = 20
"""Trials of a class that stand for all of it: their prompts are of like length."""


def preview_cost(
    items: Sequence[WorkItem], means: Means, costs_of: CostsOf, is_local: Callable[[LLM], bool]
) -> float | None:
    """Return US dollars of some trials; None where a price is not known.

    Args:
        items: Trials of one LLM and one class, at least one.
        means: What stored results say about their tokens.
        costs_of: Returns the LLM and the judges of a trial with the estimated cost of each.
        is_local: Whether an LLM costs nothing where it has no price.
    """
    sample = items[:: -(-len(items) // _LOOKED_AT)]
    costs = [
        _one(llm, _by_experience(llm, item, means, estimate), is_local)
        for item in sample
        for llm, estimate in costs_of(item)
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) * len(items) / len(sample) if len(known) == len(costs) else None


def _by_experience(llm: LLM, item: WorkItem, means: Means, estimate: float | None) -> float | None:
    if llm.id != item.llm.id:
        return estimate
    usage = Usage(prompt_tokens=means.prompt_tokens, completion_tokens=means.completion_tokens)
    known = cost_usd(usage, llm.prices)
    return estimate if known is None else known


def _one(llm: LLM, cost: float | None, is_local: Callable[[LLM], bool]) -> float | None:
    return 0.0 if cost is None and is_local(llm) else cost
