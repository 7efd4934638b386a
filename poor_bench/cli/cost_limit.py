"""`--max-cost`, and what a run will cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.models.llm import LLM
    from poor_bench.runner.cost_estimate import CostEstimate


def limit_cost(manager: LLMManager, estimate: CostEstimate, max_cost_usd: float) -> None:
    """Let a manager spend no more than this.

    Raises:
        ConfigError: If one of the LLMs and judges costs money and nobody knows how much.
    """
    from poor_bench.calls.budget import Budget, require_prices

    require_prices(estimate.unpriced, manager.is_local)
    manager.budget = Budget(max_cost_usd)


def print_cost_estimate(estimate: CostEstimate, is_local: Callable[[LLM], bool]) -> None:
    """Print about what a run will cost, and of which LLMs that is not known."""
    from poor_bench.reports.number_text import cost_text

    unknown = [llm.id for llm in estimate.unpriced if not is_local(llm)]
    if estimate.usd:
        click.echo(f"Estimated cost: {cost_text(estimate.usd)}")
    if unknown:
        click.echo(f"Unknown cost (no prices in llms.json): {', '.join(unknown)}")
