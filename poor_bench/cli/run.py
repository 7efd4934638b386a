"""`run`: run pending tests, score the responses and print the summary."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli import batch_runs
from poor_bench.cli.context import (
    AppContext,
    cluster_option,
    pass_app,
    use_cluster,
    write_next_step,
)
from poor_bench.cli.options import (
    dry_run_option,
    limit_cost,
    max_cost_option,
    print_cost_estimate,
    read_selection,
    read_shard,
    selection_options,
    trials_option,
)
from poor_bench.cli.output import json_option, print_json, show_status
from poor_bench.cli.process import stop_on_signal
from poor_bench.cli.run_summary import EndedRun, print_run_summary, run_to_json, write_shard
from poor_bench.cli.sandbox import agree_on_sandbox, sandbox_option
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count, write_disabled_tests
from poor_bench.models.problem import Severity

if TYPE_CHECKING:
    from poor_bench.runner.batches.collect import Collected
    from poor_bench.runner.plan import Plan
    from poor_bench.runs.turn import RunTurn
    from poor_bench.workspace_runner import WorkspaceRunner


_EPILOG = write_examples(
    """
  {program} run                              all pending tests
  {program} run --llm 'ollama:*' --class math_problems
  {program} run --level 1-2 --trials 3       easy tests, three trials each
  {program} run --test math_001 --force      re-run a completed test
  {program} run --dry-run                    the plan and its estimated cost
  {program} run --max-cost 0.50              stop before the cost exceeds $0.50
  {program} run --cluster tcp://10.0.0.5:8786   ask and score on the workers of dask
  {program} run --shard 2/8                  the second of 8 parts, for 8 machines
  {program} run --batch                      submit pending tests as a batch, at half the price

\b
Exit codes:
  0 all selected tests have a score of the current evaluator, or are in a batch
  3 some trials failed to run, or some stored responses could not be scored again
  2 a file or an option is wrong; 4 the results cannot be stored; 130 interrupted
"""
)


@click.command(epilog=_EPILOG)
@selection_options
@trials_option
@max_cost_option
@click.option("--force", is_flag=True, help="Re-run completed tests.")
@click.option(
    "--shard", metavar="I/N", help="Run part I of N, for several machines; see docs/machines.md."
)
@dry_run_option
@click.option("--batch", "in_batch", is_flag=True, help="Submit as a batch, at half the price.")
@click.option("--wait", "waits", is_flag=True, help="With --batch: wait for the answers.")
@click.option(
    "--beside", is_flag=True, help="Start even if another process is running this workspace."
)
@click.option("--unchecked", is_flag=True, help="Skip the check of the tests before the run.")
@cluster_option
@sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    dry_run: bool,
    cluster: str | None,
    shard: str | None,
    as_json: bool,
    **choice: Any,
) -> int:
    """Run all pending tests, score the responses and store the results.

    A trial is pending until it has a result for its current prompt, parameters and evaluator.
    Ctrl-C stops the run: completed trials are stored, the rest stays pending. A workspace has one
    run at a time: this command waits for the run of another process.

    With --shard, it does not wait, and only adds a run file to the folder journal/ of the
    workspace. `results merge` brings the run files of all shards together.

    With --batch, the provider answers within a day at a lower price (OpenAI, Anthropic). `run` and
    `status` collect what is ready. Tests in a batch are not run live meanwhile.
    """
    wishes = Wishes(
        as_json=as_json,
        is_alone=cluster is None and shard is None,
        **{name: choice.pop(name) for name in _WISHES},
    )
    wishes.require_sense()
    from poor_bench.runs.turn import RunTurn
    from poor_bench.workspace_runner import WorkspaceRunner

    selection = read_selection(choice, trials=choice["trials"], force=choice["force"])
    selection = replace(selection, shard=read_shard(shard))
    machines = use_cluster(app, None if dry_run else cluster)
    runner = WorkspaceRunner(app.config, cluster=machines)
    plan = runner.plan(selection)
    if dry_run:
        return _print_plan(runner, plan, as_json=as_json)
    if not plan.is_empty and machines is None:
        agree_on_sandbox(app, plan.states.tests)
    turn = RunTurn(app.store.paths.history)
    try:
        has_batches = wishes.may_collect and runner.has_batches
        is_needed = (has_batches or not plan.is_empty) and not shard
        if is_needed and take_turn(turn, beside=wishes.beside):
            plan = runner.plan(selection)
        if wishes.max_cost is not None:
            limit_cost(runner.manager, runner.estimate_cost(plan), wishes.max_cost)
        collected = _collect(app, runner, quiet=as_json) if has_batches else None
        if collected:
            plan = runner.plan(selection)
        return _run_or_submit(app, runner, plan, collected, wishes)
    finally:
        runner.close()
        turn.give_back()


_WISHES = ("max_cost", "in_batch", "waits", "beside", "unchecked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How a run is wanted, besides which tests."""

    max_cost: float | None
    in_batch: bool
    waits: bool
    beside: bool
    unchecked: bool
    as_json: bool
    is_alone: bool
    """False with --cluster or --shard: the run is one of several, or on other machines."""

    @property
    def may_collect(self) -> bool:
        """True if batches that are ready are collected first."""
        return self.is_alone and not self.beside

    def require_sense(self) -> None:
        """Refuse options that contradict each other.

        Raises:
            click.UsageError: If some do.
        """
        if self.waits and not self.in_batch:
            raise click.UsageError("--wait needs --batch")
        if self.in_batch and not self.is_alone:
            raise click.UsageError("--batch cannot be combined with --cluster or --shard")


def _run_or_submit(
    app: AppContext,
    runner: WorkspaceRunner,
    plan: Plan,
    collected: Collected | None,
    wishes: Wishes,
) -> int:
    if not plan.is_empty and not wishes.unchecked:
        check_before_run(app)
    if wishes.in_batch:
        return _submit(runner, plan, collected, wishes)
    if collected and (collected.n_failed or collected.is_stopped):
        return _stop_after_collecting(runner, plan, collected, as_json=wishes.as_json)
    ended = None if plan.is_empty else _run(runner, plan, quiet=wishes.as_json)
    exit_code = _report(runner, plan, ended, collected, as_json=wishes.as_json)
    return exit_code or (3 if collected and collected.problems else 0)


def _run(runner: WorkspaceRunner, plan: Plan, *, quiet: bool) -> EndedRun:
    from poor_bench.cli.run_view import open_run_view
    from poor_bench.pool.control import RunControl

    control = RunControl()
    view_of_run = open_run_view(runner.workspace, quiet=quiet)
    with view_of_run as view, stop_on_signal(control), _collect_seldom():
        return EndedRun(runner.run(plan, view, control), view.rescored)


@contextmanager
def _collect_seldom() -> Iterator[None]:
    """Look for cyclic garbage seldom: requests under way are looked through again and again.

    With 200 streams, each look through them took up to 7 ms, by which first tokens seemed late.
    """
    before = gc.get_threshold()
    gc.set_threshold(2_000, 50, 10)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _collect(app: AppContext, runner: WorkspaceRunner, *, quiet: bool) -> Collected:
    agree_on_sandbox(app, runner.batches.list_tests())
    collected = batch_runs.collect(runner, quiet=quiet)
    batch_runs.print_problems(collected.problems)
    if not quiet:
        batch_runs.print_collected(collected)
    return collected


def _submit(
    runner: WorkspaceRunner, plan: Plan, collected: Collected | None, wishes: Wishes
) -> int:
    """Submit what is pending, and wait for all answers if that is wanted."""
    from poor_bench.runner.batches.collect import Collected

    done = batch_runs.submit(runner, plan, wishes.max_cost)
    names = {llm.id: llm.label or llm.id for llm in runner.workspace.llms}
    if not wishes.as_json:
        batch_runs.print_submission(done, lambda llm_id: names.get(llm_id, llm_id))
    batch_runs.print_problems(done.problems)
    if wishes.waits and runner.has_batches:
        collected = batch_runs.wait(runner, collected or Collected(), quiet=wishes.as_json)
        if not wishes.as_json:
            batch_runs.print_collected(collected)
    if wishes.as_json:
        found = batch_runs.write_collected(collected)
        print_json({**batch_runs.submission_to_json(done), "collected": found})
    elif done.notes and not wishes.waits:
        click.echo(f"Collect the answers later: {write_next_step('run')}")
    if collected and collected.is_stopped:
        return 130
    is_left = done.problems or done.unbatched or done.n_over_limit
    return 3 if is_left or (collected and (collected.problems or collected.n_failed)) else 0


def _stop_after_collecting(
    runner: WorkspaceRunner, plan: Plan, collected: Collected, *, as_json: bool
) -> int:
    """End before what a batch did not answer is run live, at the full price."""
    if as_json:
        result = run_to_json(runner, plan, None) | {
            "collected": batch_runs.write_collected(collected)
        }
        print_json(result | {"n_pending": plan.n_items})
    elif collected.n_failed:
        batch_runs.print_pending_again(collected)
    return 130 if collected.is_stopped else 3


def _report(
    runner: WorkspaceRunner,
    plan: Plan,
    ended: EndedRun | None,
    collected: Collected | None,
    *,
    as_json: bool,
) -> int:
    if as_json:
        found = {"collected": batch_runs.write_collected(collected)}
        print_json(run_to_json(runner, plan, ended) | found)
    else:
        print_run_summary(runner, plan, ended)
    return 0 if ended is None else ended.exit_code


def _print_plan(runner: WorkspaceRunner, plan: Plan, *, as_json: bool) -> int:
    by_llm = {work.llm.id: len(work) for work in plan.works}
    cost, batch = runner.estimate_cost(plan), runner.batches.estimate(plan)
    if as_json:
        from poor_bench.results.paths import TEST_RUNS
        from poor_bench.runs.history import plan_to_json

        pending = {"pending": by_llm, "rescore": plan.n_stale_scores}
        pending["n_disabled_tests"] = plan.states.n_disabled
        pending["shard"] = write_shard(plan)
        in_batch = cost.usd - batch.live_usd + batch.batch_usd if batch.live_usd else None
        costs = {"estimated_cost_usd": cost.usd, "estimated_batch_cost_usd": in_batch}
        shared = plan_to_json(
            TEST_RUNS, {"llms": by_llm}, n_planned=plan.n_items, cost_usd=cost.usd
        )
        in_all = {"plan": shared, "n_in_batch": plan.states.n_in_batch}
        print_json(pending | costs | in_all)
        return 0
    for llm_id, n_items in by_llm.items():
        click.echo(f"{write_count(n_items, 'request')} to {llm_id}")
    if plan.states.n_disabled:
        click.echo(f"{write_disabled_tests(plan.states.n_disabled)}.")
    if plan.n_stale_scores:
        click.echo(f"{write_count(plan.n_stale_scores, 'response')} to score again")
    if plan.is_empty:
        click.echo("Nothing is pending.")
    print_cost_estimate(cost, runner.manager.is_local)
    if batch.live_usd:
        from poor_bench.metrics import cost_text

        usd = cost.usd - batch.live_usd + batch.batch_usd
        click.echo(f"Estimated cost with --batch: {cost_text(usd)}")
    if plan.states.n_in_batch:
        click.echo(f"{write_count(plan.states.n_in_batch, 'trial')} in a batch")
    return 0


_SHOWN = 3
_LOOK_AGAIN_S = 0.5


def take_turn(turn: RunTurn, *, beside: bool, pause: Callable[[float], None] = time.sleep) -> bool:
    """Take the turn to run tests; return whether it was waited for.

    Neither of two runs knows what the other is asking, so both would ask the same.

    Args:
        turn: Whose turn it is.
        beside: Warn where another process has it, and do not wait.
        pause: Waits for some seconds.
    """
    if turn.take():
        return False
    under_way = f"{turn.other_run()} of another process (console or dashboard) is active"
    if beside:
        both = "both runs send its unfinished tests"
        click.echo(f"Warning: {under_way}: {both}. Ctrl-C stops this one.", err=True)
        return False
    ways = "Ctrl-C stops waiting, --beside starts at once"
    click.echo(f"Waiting: {under_way}. Its remaining tests run afterwards. {ways}.", err=True)
    with show_status("Waiting for the other run"):
        while not turn.take():
            pause(_LOOK_AGAIN_S)
    return True


def check_before_run(app: AppContext) -> None:
    """Check the tests themselves, as `validate` does, and tell of warnings.

    Raises:
        ConfigError: If a test cannot be right, such as one whose reference does not score 1.0.
    """
    with show_status("Checking the tests"):
        findings = app.config.lint()
    found = [*app.workspace.problems, *(finding.problem for finding in findings)]
    errors = [problem for problem in found if problem.severity is Severity.ERROR]
    if errors:
        fixable = any(f.fixes for f in findings if f.problem.severity is Severity.ERROR)
        fix = f" Some can be fixed by: {next_command('tests lint --fix')}" if fixable else ""
        raise ConfigError(
            f"the workspace has {write_count(len(errors), 'faulty test')}",
            problems=errors,
            hint=f"Fix them, or add --unchecked.{fix}",
        )
    for problem in found[:_SHOWN]:
        click.echo(f"Warning: {harmless(str(problem))}", err=True)
    if len(found) > _SHOWN:
        click.echo(f"... and {len(found) - _SHOWN} more: {next_command('validate')}", err=True)
