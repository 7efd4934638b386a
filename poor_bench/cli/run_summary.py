"""What `run` prints at its end: scores, what is still pending, and where the results are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poor_bench.cli.context import write_next_step
from poor_bench.cli.report import print_summaries, summary_to_json
from poor_bench.cli.rescore import convert_tally_to_json, print_rescored
from poor_bench.command_line import next_command
from poor_bench.messages import write_count, write_disabled_tests, write_removed_tests
from poor_bench.models.result import Result
from poor_bench.statistics.summary import Summary

if TYPE_CHECKING:
    from poor_bench.runner.events import RunFinished
    from poor_bench.runner.plan import Plan
    from poor_bench.runner.rescore import RescoreTally
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
        return 3 if self.n_pending else 0

    @property
    def n_failed(self) -> int:
        """Trials that failed to run, and stored responses that could not be scored again."""
        return self.finished.n_failed + self.finished.n_not_rescored

    @property
    def n_pending(self) -> int:
        """Trials and stored responses that the next run tries again."""
        return self.n_failed + self.finished.n_skipped


def print_run_summary(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None) -> None:
    """Print the scores of the LLMs and tests that were selected, and what to do next."""
    names = {llm.id: llm.label or llm.id for llm in runner.workspace.llms}
    if ended is None:
        n_in_batch = plan.states.n_in_batch
        in_batch = f", {n_in_batch} in a batch" if n_in_batch else ""
        n_done = write_count(plan.states.n_trials - n_in_batch, "trial")
        click.echo(f"Nothing is pending: {n_done} done{in_batch}.")
    else:
        n_not_rescored = ended.finished.n_not_rescored
        print_rescored(ended.rescored, n_not_rescored, next_command("rescore --undo"))
    summaries = _summarise_results(runner, plan)
    warnings: dict[str, str] = {}
    if len(summaries) > 1:
        from poor_bench.statistics.ranking import rank_llms

        ranking = rank_llms(_find_results(runner, plan))
        warnings = {llm_id: each.text for llm_id, each in ranking.coverage.items()}
        summaries = ranking.sort(ranking.adjust(summaries))
    if summaries:
        print_summaries(summaries, names, warnings=warnings)
    if plan.states.n_disabled:
        click.echo(f"{write_disabled_tests(plan.states.n_disabled)}.")
    if plan.states.n_removed:
        click.echo(f"{write_removed_tests(plan.states.n_removed)}.")
    click.echo(_tell_where(runner, plan, ended))
    budget = runner.manager.budget
    if ended is not None and budget is not None and budget.is_reached:
        click.echo(f"Stopped by --max-cost: {budget}; the rest stays pending.")
    if ended is not None and (ended.finished.n_failed or ended.finished.n_skipped):
        click.echo(_describe_pending(ended.finished))


def run_to_json(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None) -> dict[str, Any]:
    """Build the JSON output of a run."""
    from poor_bench.runner.rescore import RescoreTally

    summaries = _summarise_results(runner, plan)
    finished = ended.finished if ended else None
    return {
        "run": _describe_run(runner, ended),
        "run_id": finished.run_id if finished else None,
        "n_scored": finished.n_scored if finished else 0,
        "n_failed": ended.n_failed if ended else 0,
        "n_pending": ended.n_pending if ended else 0,
        "rescored": convert_tally_to_json(
            ended.rescored if ended else RescoreTally(), finished.n_not_rescored if finished else 0
        ),
        "cancelled": bool(finished and finished.cancelled),
        "stopped_by_cost": bool(runner.manager.budget and runner.manager.budget.is_reached),
        "n_in_batch": plan.states.n_in_batch,
        "n_disabled_tests": plan.states.n_disabled,
        "n_results_of_removed_tests": plan.states.n_removed,
        "results": str(runner.config.store.paths.snapshot),
        "shard": write_shard(plan),
        "run_file": _find_run_file(runner, finished),
        "llms": [summary_to_json(summary) for summary in summaries],
    }


def _describe_run(runner: WorkspaceRunner, ended: EndedRun | None) -> dict[str, Any] | None:
    from poor_bench.runs.history import run_to_json as describe_run

    if ended is None:
        return None
    run_id, cost_usd = ended.finished.run_id, ended.finished.cost_usd
    history = runner.config.store.paths.history
    return describe_run(history, run_id, n_failed=ended.n_failed, cost_usd=cost_usd)


def write_shard(plan: Plan) -> str | None:
    """Write the shard that a plan is about, as the option takes it; None if it is none."""
    return None if plan.shard is None else str(plan.shard)


def _find_run_file(runner: WorkspaceRunner, finished: RunFinished | None) -> str | None:
    path = runner.config.store.paths.run_file(finished.run_id) if finished else None
    return None if path is None else str(path)


def _tell_where(runner: WorkspaceRunner, plan: Plan, ended: EndedRun | None) -> str:
    """Tell where the results stand; those of a shard wait to be brought together."""
    if plan.shard is None:
        return f"Results: {runner.config.store.paths.snapshot}"
    merge = next_command("results merge", "DIR")
    path = _find_run_file(runner, ended.finished if ended else None)
    stored = f"Run file: {path}\n" if path else ""
    return f"{stored}Shard {plan.shard}. Bring all shards together: {merge}"


def _summarise_results(runner: WorkspaceRunner, plan: Plan) -> list[Summary]:
    from poor_bench.statistics.summarise_results import summarise_results

    return summarise_results(_find_results(runner, plan))


def _find_results(runner: WorkspaceRunner, plan: Plan) -> Iterator[Result]:
    """Yield the stored results of the LLMs and tests that were selected."""
    states = plan.states
    for result in runner.config.store.results():
        if states.find_state(result) is not None:
            yield result


def _describe_pending(finished: RunFinished) -> str:
    left = write_count(finished.n_failed + finished.n_skipped, "trial")
    again = write_next_step("run")
    if finished.cancelled:
        return f"Stopped: {left} pending. Continue: {again}"
    failed = f"{write_count(finished.n_failed, 'trial')} failed to run" if finished.n_failed else ""
    skipped = f"{write_count(finished.n_skipped, 'trial')} not tried" if finished.n_skipped else ""
    reasons = f"Reasons: {next_command('results --failed')}\n" if finished.n_failed else ""
    return (
        f"{', '.join(filter(None, (failed, skipped)))}: {left} pending.\n"
        f"{reasons}Try again: {again}"
    )
