"""What `run` says at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poor_bench.cli.next_step import next_step
from poor_bench.cli.output import console, harmless
from poor_bench.cli.rescore_view import print_rescored, rescored_to_json
from poor_bench.cli.summary_json import summary_to_json
from poor_bench.cli.summary_table import summary_table
from poor_bench.command_line import next_command
from poor_bench.messages import counted, removed_tests_text
from poor_bench.runner.rescore import RescoreTally
from poor_bench.statistics.scores import coverages_of
from poor_bench.statistics.summary import summarise

if TYPE_CHECKING:
    from poor_bench.models.result import Result
    from poor_bench.runner.events import RunFinished
    from poor_bench.runner.plan import Plan
    from poor_bench.statistics.summary import Summary
    from poor_bench.workspace_runner import WorkspaceRunner


class EndedRun(NamedTuple):
    """What a run came to."""

    finished: RunFinished
    rescored: RescoreTally
    """What became of stored responses whose evaluator had changed."""

    @property
    def exit_code(self) -> int:
        """What `run` ends with."""
        if self.finished.cancelled:
            return 130
        is_whole = not (
            self.finished.n_failed or self.finished.n_skipped or self.finished.n_not_rescored
        )
        return 0 if is_whole else 3


def print_run_summary(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None) -> None:
    """Print the scores of the LLMs and tests that were selected, and what to do next."""
    names = {llm.id: llm.label or llm.id for llm in runner.workspace.llms}
    if ended is None:
        n_trials = len(plan.states.llms) * len(plan.states.tests) * plan.states.trials
        click.echo(f"Nothing is pending: {counted(n_trials, 'trial')} done.")
    else:
        n_not_rescored = ended.finished.n_not_rescored
        print_rescored(ended.rescored, n_not_rescored, next_command("rescore --undo"))
    summaries = _summaries(runner, plan)
    if summaries:
        coverage = coverages_of(_results(runner, plan))
        console().print(summary_table(summaries, names, coverage=coverage))
        for llm_id, each in coverage.items():
            if not each.is_comparable:
                click.echo(harmless(f"{names.get(llm_id, llm_id)}: {each.text}."))
    if plan.states.n_removed:
        click.echo(f"{removed_tests_text(plan.states.n_removed)}.")
    click.echo(f"Results: {runner.config.store.paths.snapshot}")
    budget = runner.manager.budget
    if ended is not None and budget is not None and budget.is_reached:
        click.echo(f"Stopped by --max-cost: {budget}; the rest stays pending.")
    if ended is not None and (ended.finished.n_failed or ended.finished.n_skipped):
        click.echo(_not_scored(ended.finished))


def run_summary(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None) -> dict[str, Any]:
    """Return the same for machines."""
    summaries = _summaries(runner, plan)
    finished = ended.finished if ended else None
    return {
        "run_id": finished.run_id if finished else None,
        "n_scored": finished.n_scored if finished else 0,
        "n_failed": finished.n_failed if finished else 0,
        "n_pending": finished.n_failed + finished.n_skipped if finished else 0,
        "rescored": rescored_to_json(
            ended.rescored if ended else RescoreTally(), finished.n_not_rescored if finished else 0
        ),
        "cancelled": bool(finished and finished.cancelled),
        "stopped_by_cost": bool(runner.manager.budget and runner.manager.budget.is_reached),
        "n_results_of_removed_tests": plan.states.n_removed,
        "results": str(runner.config.store.paths.snapshot),
        "llms": [summary_to_json(summary) for summary in summaries],
    }


def _summaries(runner: WorkspaceRunner, plan: Plan) -> list[Summary]:
    return summarise(_results(runner, plan))


def _results(runner: WorkspaceRunner, plan: Plan) -> Iterator[Result]:
    """Yield the stored results of the LLMs and tests that were selected."""
    states = plan.states
    for result in runner.config.store.results():
        if states.state_of(result) is not None:
            yield result


def _not_scored(finished: RunFinished) -> str:
    left = counted(finished.n_failed + finished.n_skipped, "trial")
    again = next_step("run")
    if finished.cancelled:
        return f"Stopped: {left} pending. Continue: {again}"
    failed = f"{counted(finished.n_failed, 'trial')} failed to run" if finished.n_failed else ""
    skipped = f"{counted(finished.n_skipped, 'trial')} not tried" if finished.n_skipped else ""
    reasons = f"Reasons: {next_command('results --failed')}\n" if finished.n_failed else ""
    return (
        f"{', '.join(filter(None, (failed, skipped)))}: {left} pending.\n"
        f"{reasons}Try again: {again}"
    )
