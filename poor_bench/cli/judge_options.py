"""Options shared by subcommands of `judge`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from poor_bench.cli.output_file import HTML_FILE

_Command = TypeVar("_Command", bound=Callable[..., Any])

_JUDGES = (
    click.option(
        "--judge",
        "judge",
        metavar="LLM",
        help="Judge: an id of llms.json or a Claude model. Default: the judge of config.yaml.",
    ),
    click.option(
        "--panel", "panel", multiple=True, metavar="LLM", help="Additional judge; repeatable."
    ),
)


def judge_options(function: _Command) -> _Command:
    """Add the options `--judge` and `--panel` to a command."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_JUDGES), function
    )


_MONEY = (
    click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="USD",
        help="Stop before total cost exceeds this amount in US dollars.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Show the plan and its cost without sending requests."
    ),
)


def money_options(function: _Command) -> _Command:
    """Add the options `--max-cost` and `--dry-run` to a command."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_MONEY), function)


def judge_names(judge: str | None, panel: tuple[str, ...]) -> tuple[str, ...]:
    """List the judges of the options; empty if the settings decide."""
    return panel if judge is None else (judge, *panel)


def html_option(function: _Command) -> _Command:
    """Add the option `--html` to a command."""
    decorate = click.option("--html", "html", type=HTML_FILE, help="Write the report to this file.")
    return decorate(function)


def most_text(most_usd: float) -> str:
    """Format the highest cost of a plan."""
    from poor_bench.reports.number_text import cost_text

    if not most_usd:
        return "no cost at the prices of llms.json"
    return f"at most about {cost_text(most_usd)} at the prices of llms.json"
