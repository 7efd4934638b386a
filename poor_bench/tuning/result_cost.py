"""Cost of one result."""

from __future__ import annotations

from poor_bench.models.result import Result


def result_cost_usd(result: Result) -> float | None:
    """Cost of answer and judge in US dollars; None if neither has a price."""
    known = [cost for cost in (result.cost_usd, result.judge_cost_usd) if cost is not None]
    return sum(known) if known else None


def n_calls_of(result: Result) -> int:
    """Number of requests for a result: one, and one per judge."""
    return 1 if result.judgement is None else 2
