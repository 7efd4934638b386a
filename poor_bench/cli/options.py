"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from poor_bench.cli.output import json_option
from poor_bench.cli.sandbox import sandbox_option

if TYPE_CHECKING:
    from poor_bench.comparison.compared_tests import Mismatch
    from poor_bench.llm_manager import LLMManager
    from poor_bench.models.llm import LLM
    from poor_bench.runner.cost_estimate import CostEstimate
    from poor_bench.runner.selection import Selection
    from poor_bench.tuning.spending import Limits
    from poor_bench.tuning.stopping import StopReason


_Command = TypeVar("_Command", bound=Callable[..., Any])
_SELECTION = (
    click.option("--llm", "llms", multiple=True, metavar="ID", help="Model id, label or glob."),
    click.option("--class", "classes", multiple=True, metavar="ID", help="Test class id or glob."),
    click.option("--level", "levels", multiple=True, metavar="N|N-M", help="Level or range."),
    click.option("--test", "tests", multiple=True, metavar="ID", help="Test id or glob."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag or glob."),
)
_LEVELS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


def selection_options(function: _Command) -> _Command:
    """Give a command the options `--llm --class --level --test --tag`, all repeatable."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_SELECTION), function
    )


def selection_from(
    filters: dict[str, tuple[str, ...]], *, trials: int = 1, force: bool = False
) -> Selection:
    """Return the selection that the options of `selection_options` describe.

    Raises:
        click.UsageError: If a level is not a number or a range.
    """
    from poor_bench.runner.selection import Selection

    return Selection(
        llms=filters["llms"],
        classes=filters["classes"],
        levels=frozenset(level for text in filters["levels"] for level in levels_in(text)),
        tests=filters["tests"],
        tags=filters["tags"],
        trials=trials,
        force=force,
    )


def levels_in(text: str) -> range:
    """Return the levels that a text such as `3` or `1-3` means.

    Raises:
        click.UsageError: If it is neither.
    """
    match = _LEVELS.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--level {text!r}: give a number or a range such as 1-3")
    low = int(match[1])
    return range(low, int(match[2] or low) + 1)


_CHANGES = ("prompt", "parameters", "model", "evaluator")
pass_mark_option = click.option(
    "--pass-mark",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Lowest score at which a test passes.",
)
rescore_option = click.option(
    "--rescore",
    is_flag=True,
    help="Score both sides again with the current evaluators first.",
)
_COMPARISON = (
    pass_mark_option,
    click.option(
        "--allow",
        "allow",
        type=click.Choice([*_CHANGES, "all"]),
        multiple=True,
        help="Compare tests even if this changed. Default: such tests are listed, not compared.",
    ),
)


def comparison_options(function: _Command) -> _Command:
    """Give a command the options `--pass-mark` and `--allow`."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_COMPARISON), function
    )


def allowed_changes(words: tuple[str, ...]) -> frozenset[Mismatch]:
    """Return the changes that the words of `--allow` name."""
    from poor_bench.comparison.compared_tests import Mismatch

    chosen = _CHANGES if "all" in words else words
    return frozenset(Mismatch(word) for word in chosen)


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


class OutputFile(click.Path):
    """A file to write; any other ending than the given ones is refused."""

    def __init__(self, *endings: str) -> None:
        """Describe a file.

        Args:
            endings: Such as `.html`, the usual one first.
        """
        super().__init__(path_type=Path, dir_okay=False)
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the ending; a name without one, such as /dev/stdout, is left alone."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix and path.suffix.lower() not in self._endings:
            self.fail(f"{path}: the name must end in {one_of(self._endings)}", param, ctx)
        return path


def one_of(endings: tuple[str, ...]) -> str:
    """List endings in words.

    Example:
        >>> one_of((".md", ".csv", ".json"))
        '.md, .csv or .json'
    """
    *others, last = endings
    return f"{', '.join(others)} or {last}" if others else last


HTML_FILE = OutputFile(".html", ".htm")


def key_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return what options such as `--column text=question` say.

    Raises:
        click.UsageError: If one of them has no `=`, or no key.
    """
    pairs = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} {text!r}: give KEY=VALUE")
        pairs[key] = value
    return pairs


def plain_key_values(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Return what such options say, with numbers, true, false, lists and mappings as such.

    Raises:
        click.UsageError: If one of them has no `=`, no key, or a value that is no plain data.
    """
    from poor_bench.config.document import UnreadableError
    from poor_bench.config.yaml_document import parse_yaml

    try:
        return {
            key: parse_yaml(value).data if value.strip() else value
            for key, value in key_values(texts, option).items()
        }
    except UnreadableError as error:
        raise click.UsageError(f"{option}: {error}") from error
