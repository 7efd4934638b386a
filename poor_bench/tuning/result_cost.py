"""What one result cost."""

from __future__ import annotations

from poor_bench.models.result import Result


def result_cost_usd(result: Result) -> float | None:
    """Return US dollars for answer and judge; None where neither has a price."""
    known = [cost for cost in (result.cost_usd, result.judge_cost_usd) if cost is not None]
    return sum(known) if known else None


def n_calls_of(result: Result) -> int:
    """Return how many LLMs were asked for a result: one, and a judge where there is one."""
    return 1 if result.judgement is None else 2
