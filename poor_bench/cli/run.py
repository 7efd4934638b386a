"""`run`: bring everything that is selected up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.cost_limit import limit_cost, print_cost_estimate
from poor_bench.cli.output import json_option, print_json
from poor_bench.cli.run_checks import check_before_run, take_turn
from poor_bench.cli.sandbox_option import agree_on_sandbox, choose_sandbox, sandbox_option
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.cli.stop_signals import stop_on_signal
from poor_bench.command_line import examples
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.cli.run_summary import EndedRun
    from poor_bench.runner.plan import Plan
    from poor_bench.workspace_runner import WorkspaceRunner


_EPILOG = examples(
    """
  {program} run                              all pending tests
  {program} run --llm 'ollama:*' --class math_problems
  {program} run --level 1-2 --trials 3       easy tests, three trials each
  {program} run --test math_001 --force      re-run a completed test
  {program} run --dry-run                    the plan and its estimated cost
  {program} run --max-cost 0.50              stop before the cost exceeds $0.50

\b
Exit codes:
  0 all selected tests have a score of the current evaluator
  3 some trials failed to run, or some stored responses could not be scored again
  2 a file or an option is wrong; 4 the results cannot be stored; 130 interrupted
"""
)


@click.command(epilog=_EPILOG)
@selection_options
@click.option(
    "--trials",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Trials per test.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    metavar="USD",
    help="Stop before total cost exceeds this amount.",
)
@click.option("--force", is_flag=True, help="Re-run completed tests.")
@click.option(
    "--dry-run", is_flag=True, help="Show the plan and its cost without sending requests."
)
@click.option(
    "--beside", is_flag=True, help="Start even if another process is running this workspace."
)
@click.option("--unchecked", is_flag=True, help="Skip the check of the tests before the run.")
@sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    max_cost: float | None,
    dry_run: bool,
    beside: bool,
    unchecked: bool,
    sandbox_level: str | None,
    as_json: bool,
    **choice: Any,
) -> int:
    """Run all pending tests, score the responses and store the results.

    A trial is pending until it has a result for its current prompt, parameters and evaluator.
    Ctrl-C stops the run: completed trials are stored, the rest stays pending. A workspace has one
    run at a time: this command waits for the run of another process.
    """
    from poor_bench.runs.turn import RunTurn
    from poor_bench.workspace_runner import WorkspaceRunner

    choose_sandbox(sandbox_level)
    runner = WorkspaceRunner(app.config)
    selection = selection_from(choice, trials=choice["trials"], force=choice["force"])
    plan = runner.plan(selection)
    if not plan.is_empty and not dry_run:
        agree_on_sandbox(app, plan.states.tests)
    if dry_run:
        return _print_plan(runner, plan, as_json=as_json)
    turn = RunTurn(app.store.paths.journal_dir)
    try:
        if not plan.is_empty and take_turn(turn, beside=beside):
            plan = runner.plan(selection)
        if max_cost is not None:
            limit_cost(runner.manager, runner.estimate_cost(plan), max_cost)
        if not plan.is_empty and not unchecked:
            check_before_run(app)
        ended = None if plan.is_empty else _run(runner, plan, quiet=as_json)
        return _report(runner, plan, ended, as_json=as_json)
    finally:
        runner.close()
        turn.give_back()


def _run(runner: WorkspaceRunner, plan: Plan, *, quiet: bool) -> EndedRun:
    from poor_bench.cli.run_summary import EndedRun
    from poor_bench.cli.run_view import open_run_view
    from poor_bench.runner.control import RunControl

    control = RunControl()
    with open_run_view(runner.workspace, quiet=quiet) as view, stop_on_signal(control):
        return EndedRun(runner.run(plan, view, control), view.rescored)


def _report(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None, *, as_json: bool) -> int:
    from poor_bench.cli.run_summary import print_run_summary, run_summary

    if as_json:
        print_json(run_summary(runner, plan, ended))
    else:
        print_run_summary(runner, plan, ended)
    return 0 if ended is None else ended.exit_code


def _print_plan(runner: WorkspaceRunner, plan: Plan, *, as_json: bool) -> int:
    by_llm = {work.llm.id: len(work) for work in plan.works}
    cost = runner.estimate_cost(plan)
    if as_json:
        pending = {"pending": by_llm, "rescore": plan.n_stale_scores}
        print_json(pending | {"estimated_cost_usd": cost.usd})
        return 0
    for llm_id, n_items in by_llm.items():
        click.echo(f"{counted(n_items, 'request')} to {llm_id}")
    if plan.n_stale_scores:
        click.echo(f"{counted(plan.n_stale_scores, 'response')} to score again")
    if plan.is_empty:
        click.echo("Nothing is pending.")
    print_cost_estimate(cost, runner.manager.is_local)
    return 0
