"""What `run` says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.next_step import next_step
from poor_bench.cli.output import console
from poor_bench.cli.summary_json import summary_to_json
from poor_bench.cli.summary_table import summary_table
from poor_bench.command_line import next_command
from poor_bench.statistics.summarise import summarise
from poor_bench.wording import counted

if TYPE_CHECKING:
    from poor_bench.runner.events import RunFinished
    from poor_bench.runner.plan import Plan
    from poor_bench.statistics.summary import Summary
    from poor_bench.workspace_runner import WorkspaceRunner


def print_run_summary(runner: WorkspaceRunner, plan: Plan, finished: RunFinished | None) -> None:
    """Print the scores of the LLMs and tests that were selected, and what to do next."""
    names = {llm.id: llm.label or llm.id for llm in runner.workspace.llms}
    if finished is None:
        n_trials = len(plan.states.llms) * len(plan.states.tests) * plan.states.trials
        click.echo(f"Nothing is pending: {counted(n_trials, 'trial')} done.")
    summaries = _summaries(runner, plan)
    if summaries:
        console().print(summary_table(summaries, names))
    click.echo(f"Results: {runner.config.store.paths.snapshot}")
    budget = runner.manager.budget
    if finished is not None and budget is not None and budget.is_reached:
        click.echo(f"Stopped by --max-cost: {budget}; the rest stays pending.")
    if finished is not None and (finished.n_failed or finished.n_skipped):
        click.echo(_not_scored(finished))


def run_summary(
    runner: WorkspaceRunner, plan: Plan, finished: RunFinished | None
) -> dict[str, Any]:
    """Return the same for machines."""
    summaries = _summaries(runner, plan)
    return {
        "run_id": finished.run_id if finished else None,
        "n_scored": finished.n_scored if finished else 0,
        "n_failed": finished.n_failed if finished else 0,
        "n_pending": finished.n_failed + finished.n_skipped if finished else 0,
        "cancelled": bool(finished and finished.cancelled),
        "stopped_by_cost": bool(runner.manager.budget and runner.manager.budget.is_reached),
        "results": str(runner.config.store.paths.snapshot),
        "llms": [summary_to_json(summary) for summary in summaries],
    }


def _summaries(runner: WorkspaceRunner, plan: Plan) -> list[Summary]:
    states = plan.states
    return summarise(
        result for result in runner.config.store.results() if states.state_of(result) is not None
    )


def _not_scored(finished: RunFinished) -> str:
    left = counted(finished.n_failed + finished.n_skipped, "trial")
    again = next_step("run")
    if finished.cancelled:
        return f"Stopped: {left} pending. Continue: {again}"
    reasons = f"Reasons: {next_command('results --failed')}\n" if finished.n_failed else ""
    return f"{left} could not be run and stay pending.\n{reasons}Try again: {again}"
