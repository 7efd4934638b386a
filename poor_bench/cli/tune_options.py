"""Options shared by the searches of `tune`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from poor_bench.cli.output import json_option
from poor_bench.cli.sandbox_option import sandbox_option

if TYPE_CHECKING:
    from poor_bench.tuning.spending import Limits
    from poor_bench.tuning.stopping import StopReason

_Command = TypeVar("_Command", bound=Callable[..., Any])


def search_options(default_calls: int) -> Callable[[_Command], _Command]:
    """Add the options `--sandbox`, `--seed`, `--budget-calls`, `--max-cost` and `--json`."""
    options = (
        json_option,
        sandbox_option,
        click.option(
            "--budget-calls",
            type=click.IntRange(1),
            default=default_calls,
            show_default=True,
            help="Stop after this number of requests.",
        ),
        click.option(
            "--max-cost",
            type=click.FloatRange(0),
            metavar="USD",
            help="Stop before total cost exceeds this amount in US dollars.",
        ),
        click.option(
            "--seed", type=int, default=0, show_default=True, help="Seed of all random choices."
        ),
    )
    return lambda command: functools.reduce(lambda made, add: add(made), options, command)


def limits_of(budget_calls: int, max_cost: float | None) -> Limits:
    """Build the limits of these options."""
    from poor_bench.tuning.spending import Limits

    return Limits(n_calls=budget_calls, cost_usd=max_cost)


def exit_code(reason: StopReason) -> int:
    """Map the end of a search to an exit code."""
    from poor_bench.tuning.stopping import StopReason

    return {StopReason.LLM_FAILED: 3, StopReason.CANCELLED: 130}.get(reason, 0)
