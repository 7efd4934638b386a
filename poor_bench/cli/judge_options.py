"""What several subcommands of `judge` share."""

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
        help="Who judges: an LLM id, or a Claude model; that of config.yaml by default.",
    ),
    click.option(
        "--panel", "panel", multiple=True, metavar="LLM", help="A further judge; repeatable."
    ),
)


def judge_options(function: _Command) -> _Command:
    """Give a command the options `--judge` and `--panel`."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_JUDGES), function
    )


_MONEY = (
    click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="USD",
        help="Most US dollars to spend: work that might exceed it is not begun.",
    ),
    click.option("--dry-run", is_flag=True, help="Show what would be done and cost; ask nobody."),
)


def money_options(function: _Command) -> _Command:
    """Give a command the options `--max-cost` and `--dry-run`."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_MONEY), function)


def judge_names(judge: str | None, panel: tuple[str, ...]) -> tuple[str, ...]:
    """Return the judges that the options name; none where the settings are to decide."""
    return panel if judge is None else (judge, *panel)


def html_option(function: _Command) -> _Command:
    """Give a command the option `--html`."""
    decorate = click.option("--html", "html", type=HTML_FILE, help="Write the report to this file.")
    return decorate(function)


def most_text(most_usd: float) -> str:
    """Return what a plan costs at most, in words."""
    from poor_bench.reports.number_text import cost_text

    if not most_usd:
        return "no cost, by the prices of llms.json"
    return f"at most about {cost_text(most_usd)}, by the prices of llms.json"
