"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from poor_bench.cli.output import json_option, print_json
from poor_bench.cli.sandbox import sandbox_option

if TYPE_CHECKING:
    from poor_bench.comparison.compared_tests import Mismatch
    from poor_bench.llm_manager import LLMManager
    from poor_bench.models.llm import LLM
    from poor_bench.runner.jobs import CostEstimate
    from poor_bench.runner.plan import Shard
    from poor_bench.runner.selection import Selection
    from poor_bench.statistics.purchase import Unit
    from poor_bench.tuning.prompt.report import PromptReport
    from poor_bench.tuning.searches import StopReason
    from poor_bench.tuning.sweep_ranking import ParamsReport

_Command = TypeVar("_Command", bound=Callable[..., Any])
_CHANGES = ("prompt", "parameters", "model", "evaluator")
_LEVELS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


def combine(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Combine options into one decorator; `--help` shows them in this order."""
    return lambda command: functools.reduce(lambda made, add: add(made), reversed(options), command)


def count_option(
    *names: str,
    default: int | None = 1,
    most: int | None = None,
    hint: str,
) -> Callable[[_Command], _Command]:
    """Build an option that takes a whole number of at least 1; `hint` stands in `--help`."""
    return click.option(*names, type=click.IntRange(1, most), default=default, help=hint)


class OutputFileType(click.Path):
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
            self.fail(f"{path}: the name must end in {list_endings(self._endings)}", param, ctx)
        return path


def list_endings(endings: Iterable[str]) -> str:
    """List endings in words.

    Example:
        >>> list_endings((".md", ".csv", ".json"))
        '.md, .csv or .json'
    """
    *others, last = endings
    return f"{', '.join(others)} or {last}" if others else last


HTML_FILE = OutputFileType(".html", ".htm")
html_option = click.option("--html", type=HTML_FILE, help="Write the report to this file.")
all_problems_option = click.option(
    "--all", "shows_all", is_flag=True, help="Show all problems, not only the first 50."
)
trials_option = count_option("--trials", most=1000, hint="Trials per test.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show the plan and its cost without sending requests."
)
max_cost_option = click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help="Stop before total cost exceeds this amount in US dollars.",
)
cost_options = combine(max_cost_option, dry_run_option)
resume_option = click.option(
    "--resume",
    metavar="RUN",
    help="Resume a stored run: its id, or `last`. What failed is retried.",
)
beside_option = click.option(
    "--beside", is_flag=True, help="Start even if another process is running the same."
)
selection_options = combine(
    click.option("--llm", "llms", multiple=True, metavar="ID", help="Model id, label or glob."),
    click.option("--class", "classes", multiple=True, metavar="ID", help="Test class id or glob."),
    click.option("--level", "levels", multiple=True, metavar="N|N-M", help="Level or range."),
    click.option("--test", "tests", multiple=True, metavar="ID", help="Test id or glob."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag or glob."),
)
"""`--llm --class --level --test --tag`, all repeatable; see `read_selection`."""


class RenamedOption(click.Option):
    """An option with older names, which work as before but are not shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Describe the option by its newest name."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        names, text = record
        for old in self.opts[1:]:
            names = names.replace(f", {old}", "")
        return names, text


pass_score_option = click.option(
    "--pass-score",
    "--pass-mark",
    "pass_score",
    cls=RenamedOption,
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    help="Lowest score at which a test passes.",
)
baseline_option = click.option(
    "--compare",
    "base",
    metavar="BASE",
    help="Baseline: a run, a file or `previous`; see `compare`.",
)
comparison_options = combine(
    pass_score_option,
    click.option(
        "--allow",
        type=click.Choice([*_CHANGES, "all"]),
        multiple=True,
        help="Compare tests even if this changed. Default: such tests are listed, not compared.",
    ),
)
"""`--pass-mark --allow`; see `read_allowed_changes`."""
judge_options = combine(
    click.option(
        "--judge",
        metavar="LLM",
        help="Judge: an id of llms.json or a Claude model. Default: the judge of config.yaml.",
    ),
    click.option("--panel", multiple=True, metavar="LLM", help="Additional judge; repeatable."),
)


def search_options(default_calls: int) -> Callable[[_Command], _Command]:
    """Build the options that every search has."""
    return combine(
        click.option("--seed", type=int, default=0, help="Seed of all random choices."),
        cost_options,
        beside_option,
        count_option(
            "--budget-calls", default=default_calls, hint="Stop after this number of requests."
        ),
        sandbox_option,
        json_option,
    )


def read_selection(filters: dict[str, Any], *, trials: int = 1, force: bool = False) -> Selection:
    """Read the values of `selection_options`.

    Raises:
        click.UsageError: If a level is not a number or a range.
    """
    from poor_bench.runner.selection import Selection

    return Selection(
        llms=filters["llms"],
        classes=filters["classes"],
        levels=frozenset(level for text in filters["levels"] for level in read_levels(text)),
        tests=filters["tests"],
        tags=filters["tags"],
        trials=trials,
        force=force,
    )


def read_shard(text: str | None) -> Shard | None:
    """Read the value of `--shard`; None where it is not given.

    Raises:
        click.UsageError: If it is not a shard.
    """
    from poor_bench.runner.plan import Shard

    try:
        return None if text is None else Shard.parse(text)
    except ValueError as error:
        raise click.UsageError(f"--shard {text!r}: {error}") from error


def read_levels(text: str) -> range:
    """Read levels such as `3` or `1-3`.

    Raises:
        click.UsageError: If the text is neither.
    """
    match = _LEVELS.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--level {text!r}: give a number or a range such as 1-3")
    low = int(match[1])
    return range(low, int(match[2] or low) + 1)


def read_allowed_changes(words: tuple[str, ...]) -> frozenset[Mismatch]:
    """Read the values of `--allow`."""
    from poor_bench.comparison.compared_tests import Mismatch

    chosen = _CHANGES if "all" in words else words
    return frozenset(Mismatch(word) for word in chosen)


_AMOUNT = re.compile(
    r"\$?\s{0,9}(\d+(?:\.\d+)?)\s{0,9}(\$|usd|calls?|min|minutes?|h|hours?)?", re.IGNORECASE
)


def read_amount(text: str, option: str) -> tuple[float, Unit]:
    """Read an amount to spend, such as `5.00`, `200 calls`, `30 min` or `2 h`.

    Raises:
        click.UsageError: If it is not an amount above 0.
    """
    from poor_bench.statistics.purchase import Unit

    match = _AMOUNT.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise click.UsageError(f"{option} {text!r}: give dollars (5.00), '200 calls' or '30 min'")
    amount, word = float(match[1]), (match[2] or "$")[0].lower()
    units = {"$": Unit.USD, "u": Unit.USD, "c": Unit.CALLS}
    return amount * (60 if word == "h" else 1), units.get(word, Unit.MINUTES)


def read_key_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Read options such as `--column text=question`.

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


def read_parameters(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Read options such as `--set temperature=0`; the values are YAML.

    Raises:
        click.UsageError: If one of them has no `=`, no key, or an unreadable value.
    """
    return {
        key: read_value(value, f"{option} {key}") if value.strip() else value
        for key, value in read_key_values(texts, option).items()
    }


def read_value(text: str, option: str) -> Any:
    """Read a YAML value: a number, true, false, null, a text, a list or a mapping.

    Raises:
        click.UsageError: If it is not readable.
    """
    from poor_bench.config.document import UnreadableError
    from poor_bench.config.yaml_document import parse_yaml

    try:
        return parse_yaml(text).data
    except UnreadableError as error:
        raise click.UsageError(f"{option}: {error}") from error


def search_exit_code(reason: StopReason) -> int:
    """Map the end of a search to an exit code."""
    from poor_bench.tuning.searches import StopReason

    return {StopReason.LLM_FAILED: 3, StopReason.CANCELLED: 130}.get(reason, 0)


def print_search_json(report: ParamsReport | PromptReport, data_dir: Path) -> None:
    """Print what a search came to as JSON."""
    from poor_bench.runs.history import RunHistory, run_to_json
    from poor_bench.tuning.searches import SEARCHES

    history, n_failed = RunHistory(data_dir, SEARCHES), report.n_failed
    run = run_to_json(history, report.run_id, n_failed=n_failed, cost_usd=report.cost_usd)
    print_json({"run": run, **report.as_json()})


def limit_cost(manager: LLMManager, estimate: CostEstimate, max_cost_usd: float) -> None:
    """Let a manager spend at most this.

    Raises:
        ConfigError: If a model or judge that costs money has no prices.
    """
    from poor_bench.calls.budget import Budget, require_prices

    require_prices(estimate.unpriced, manager.is_local)
    manager.budget = Budget(max_cost_usd)


def print_cost_estimate(estimate: CostEstimate, is_local: Callable[[LLM], bool]) -> None:
    """Print the estimated cost of a run, and the models whose cost is unknown."""
    from poor_bench.metrics import cost_text

    unknown = [llm.id for llm in estimate.unpriced if not is_local(llm)]
    if estimate.usd:
        click.echo(f"Estimated cost: {cost_text(estimate.usd)}")
    if unknown:
        click.echo(f"Unknown cost (no prices in llms.json): {', '.join(unknown)}")


def format_highest_cost(most_usd: float | None) -> str:
    """Write the highest cost of a plan; None stands for a price that is unknown."""
    from poor_bench.metrics import cost_text

    if most_usd is None:
        return "unknown cost: no prices in llms.json"
    if not most_usd:
        return "no cost at the prices of llms.json"
    return f"at most about {cost_text(most_usd)} at the prices of llms.json"
