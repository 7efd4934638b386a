"""`rescore`: score stored responses again, without asking for them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.cost_limit import limit_cost, print_cost_estimate
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.cli.sandbox_option import demand_sandbox, require_sandbox_option
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.command_line import examples
from poor_bench.wording import counted

if TYPE_CHECKING:
    from poor_bench.runner.rescore import Rescored, RescorePlan
    from poor_bench.workspace_runner import WorkspaceRunner

_EPILOG = examples(
    """
  {program} rescore --dry-run                show what would change
  {program} rescore --class math_problems
  {program} rescore --class essays --max-cost 0.50
"""
)


@click.command(epilog=_EPILOG)
@selection_options
@click.option("--dry-run", is_flag=True, help="Show what would change; store nothing.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help="Most US dollars to spend on judges; the rest keeps its old scores.",
)
@require_sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    dry_run: bool,
    max_cost: float | None,
    require_sandbox: str | None,
    as_json: bool,
    **filters: Any,
) -> int:
    """Compute the scores of stored responses with today's evaluators, and show what changed.

    The LLMs are not asked. Responses that an LLM has judged are judged again where evaluator,
    parameters, rubric or judge have changed, with --dry-run, too, which may cost money.
    """
    from poor_bench.workspace_runner import WorkspaceRunner

    demand_sandbox(require_sandbox)
    runner = WorkspaceRunner(app.config)
    rescored: list[Rescored] = []
    try:
        plan = runner.plan_rescore(selection_from(filters))
        _tell_judging(runner, plan, max_cost, quiet=as_json)
        rescored.extend(_progress(runner.rescore(plan), plan.n_items, quiet=as_json))
    finally:
        if not dry_run:
            runner.store_rescored(rescored)
        runner.close()
    n_left = plan.n_items - len(rescored)
    changed = [item for item in rescored if item.is_changed]
    problems = [item for item in rescored if item.new is None]
    if as_json:
        print_json(
            {
                "n_rescored": len(rescored),
                "n_left": n_left,
                "changed": [_record(item) for item in changed],
                "problems": [_record(item) for item in problems],
            }
        )
    else:
        _print(rescored, changed, problems, stored=not dry_run)
    if n_left:
        text = f"{counted(n_left, 'response')} left with old scores: too costly to judge."
        click.echo(text, err=True)
    return 3 if problems or n_left else 0


def _tell_judging(
    runner: WorkspaceRunner, plan: RescorePlan, max_cost: float | None, *, quiet: bool
) -> None:
    """Tell what judging will cost, and limit it."""
    if not plan.judged:
        return
    estimate = runner.estimate_rescore(plan)
    if max_cost is not None:
        limit_cost(runner.manager, estimate, max_cost)
    if not quiet:
        click.echo(f"To be judged again: {counted(len(plan.judged), 'response')}.", err=True)
        print_cost_estimate(estimate, runner.manager.is_local)


def _print(
    rescored: list[Rescored], changed: list[Rescored], problems: list[Rescored], *, stored: bool
) -> None:
    moved = [item for item in changed if item.old.score != (item.new and item.new.score)]
    if moved:
        rows = [
            [
                item.old.llm_id,
                item.old.test_id,
                _score(item.old.score),
                _score(item.new.score if item.new else None),
            ]
            for item in moved
        ]
        columns: list[Column] = ["LLM", "Test", ("Stored", "right"), ("Now", "right")]
        console().print(plain_table(columns, rows))
    for item in problems:
        click.echo(f"{item.old.llm_id} {item.old.test_id}: {item.problem}", err=True)
    click.echo(
        f"{counted(len(rescored), 'response')} scored again: "
        f"{counted(len(moved), 'score')} and "
        f"{counted(len(changed) - len(moved), 'explanation')} changed"
        + ("." if stored else "; nothing was stored.")
    )


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


def _record(item: Rescored) -> dict[str, Any]:
    return {
        "llm_id": item.old.llm_id,
        "test_id": item.old.test_id,
        "trial": item.old.trial,
        "old_score": item.old.score,
        "new_score": item.new.score if item.new else None,
        "problem": item.problem,
    }


def _progress(items: Iterator[Rescored], n_items: int, *, quiet: bool) -> Iterator[Rescored]:
    from rich.progress import track

    yield from track(items, "Scoring", total=n_items, console=console(stderr=True), disable=quiet)
