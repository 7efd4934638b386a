"""Batches within `run` and `status`: submit, wait, collect, and say what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poor_bench.cli.options import limit_cost
from poor_bench.cli.output import say, show_status
from poor_bench.cli.process import stop_on_signal
from poor_bench.command_line import next_command
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.pool.control import RunControl
    from poor_bench.runner.batches.collect import Collected
    from poor_bench.runner.batches.observe import BatchView
    from poor_bench.runner.batches.submit import Submission
    from poor_bench.runner.plan import Plan
    from poor_bench.workspace_runner import WorkspaceRunner

POLL_S = 30.0
"""How often `--wait` looks."""


def collect(runner: WorkspaceRunner, *, quiet: bool, judges: bool = True) -> Collected:
    """Collect the batches that are ready; show the run that stores their answers."""
    from poor_bench.pool.control import RunControl

    return _collect(runner, RunControl(), quiet=quiet, judges=judges)


def _collect(
    runner: WorkspaceRunner, control: RunControl, *, quiet: bool, judges: bool = True
) -> Collected:
    from poor_bench.cli.run_view import open_run_view

    with open_run_view(runner.workspace, quiet=quiet) as view, stop_on_signal(control):
        return runner.collect_batches(view, control, judges=judges)


def submit(runner: WorkspaceRunner, plan: Plan, max_cost: float | None) -> Submission:
    """Submit a plan within the cost limit.

    Raises:
        ConfigError: If the cost is limited and a price is missing; nothing was submitted then.
    """
    from poor_bench.calls.budget import Budget
    from poor_bench.pool.control import RunControl

    if max_cost is not None:
        limit_cost(runner.manager, runner.estimate_cost(plan), max_cost)
    runner.scorer.require_judges(plan.tests())
    control = RunControl()
    with stop_on_signal(control), show_status("Submitting"):
        limit = math.inf if max_cost is None else max_cost
        done = runner.batches.submit(plan, limit, control.cancelled)
    if max_cost is not None:
        runner.manager.budget = Budget(max_cost, spent_usd=done.batch_usd)
    return done


def wait(runner: WorkspaceRunner, first: Collected, *, quiet: bool) -> Collected:
    """Look again and again until all batches are collected, or nothing more can be hoped for.

    A server that cannot be reached for a while ends nothing: answers come within a day.

    Args:
        runner: Of the workspace.
        first: What was collected before.
        quiet: Show no progress.
    """
    from poor_bench.pool.control import RunControl

    control, said, collected = RunControl(), "", first
    while not control.cancelled():
        found = _collect(runner, control, quiet=quiet)
        print_problems([each for each in found.problems if each not in collected.problems])
        collected = _join(collected, found)
        progress = describe_progress(collected.waiting)
        if progress != said and not quiet and collected.waiting:
            say(progress, err=True)
            said = progress
        if not any(view.is_worth_waiting for view in collected.waiting):
            break
        with stop_on_signal(control):
            runner.manager.clock.wait(POLL_S, control.cancelled)
        runner.manager.close()  # so that an endpoint that was given up is asked again
    return collected


def _join(before: Collected, now: Collected) -> Collected:
    passing = {view.complaint for view in before.waiting}
    lasting = [problem for problem in before.problems if problem not in passing]
    now.problems = list(dict.fromkeys([*lasting, *now.problems]))
    now.n_batches += before.n_batches
    now.n_scored += before.n_scored
    now.n_failed += before.n_failed
    now.n_orphans += before.n_orphans
    return now


def describe_progress(views: list[BatchView]) -> str:
    """Say how far the open batches are."""
    known = [view.progress for view in views if view.progress]
    if not known:
        return f"{write_count(len(views), 'batch')} open, progress unknown"
    n_done = sum(progress.n_done for progress in known)
    n_items = sum(len(view.note.items) for view in views)
    batches = write_count(len(views), "batch")
    return f"{batches} running: {n_done:,} of {write_count(n_items, 'request')} answered"


def print_collected(collected: Collected) -> None:
    """Print what was collected, what is still running and what went wrong."""
    if collected.n_batches:
        say(
            f"Collected {write_count(collected.n_batches, 'batch')}: "
            f"{write_count(collected.n_scored, 'trial')} scored, {collected.n_failed} failed."
        )
    if collected.n_orphans:
        orphans = write_count(collected.n_orphans, "answer")
        say(f"{orphans} to removed tests kept in the folder `batches`.")
    if collected.waiting:
        say(f"{describe_progress(collected.waiting)}. List: {next_command('batches')}")


def print_problems(problems: list[str]) -> None:
    """Print what went wrong with batches."""
    for problem in problems:
        say(f"Warning: {problem}.", err=True)


def print_pending_again(collected: Collected) -> None:
    """Say how tests whose batch did not answer them are asked again."""
    say(
        f"{write_count(collected.n_failed, 'trial')} pending again. "
        f"Reasons: {next_command('results --failed')}\n"
        f"Submit again: {next_command('run --batch')}\n"
        f"Run at the live price: {next_command('run')}"
    )


def print_submission(done: Submission, name: Callable[[str], str]) -> None:
    """Print what was submitted, what it costs, and what stays pending and why."""
    for note in done.notes:
        say(f"Submitted {write_count(len(note.items), 'request')} to {name(note.llm_id)}")
    for llm_id, refused in done.refused.items():
        say(f"{name(llm_id)}: sent without {', '.join(refused)}, refused in an earlier batch.")
    if done.notes:
        say(write_cost(done.batch_usd, done.live_usd))
    for llm_id, n_trials in done.unbatched.items():
        say(
            f"{name(llm_id)}: {write_count(n_trials, 'trial')} pending; "
            f"its provider takes no batches. Run live: {next_command('run --llm', llm_id)}"
        )
    if done.n_over_limit:
        say(f"{write_count(done.n_over_limit, 'trial')} pending: stopped by --max-cost.")
    if not done.notes and not done.unbatched and not done.problems and not done.n_over_limit:
        say("Nothing is pending that is not in a batch.")


def write_cost(batch_usd: float, live_usd: float) -> str:
    """Write the estimated cost of a batch beside that of live calls."""
    from poor_bench.metrics import cost_text

    if not live_usd:
        return "Unknown cost: no prices in llms.json."
    return f"Estimated cost: {cost_text(batch_usd)} in a batch, {cost_text(live_usd)} live"


def submission_to_json(done: Submission) -> dict[str, Any]:
    """Build the JSON output of what was submitted."""
    return {
        "submitted": [
            {"key": note.key, "llm_id": note.llm_id, "n_items": len(note.items)}
            for note in done.notes
        ],
        "n_submitted": done.n_submitted,
        "estimated_cost_usd": done.batch_usd,
        "estimated_live_cost_usd": done.live_usd,
        "unbatched": done.unbatched,
        "refused": done.refused,
        "n_over_limit": done.n_over_limit,
        "problems": done.problems,
    }


def write_collected(collected: Collected | None) -> dict[str, Any] | None:
    """Build the JSON output of what was collected; None if no batch was open."""
    if collected is None:
        return None
    return {
        "n_batches": collected.n_batches,
        "n_scored": collected.n_scored,
        "n_failed": collected.n_failed,
        "n_orphans": collected.n_orphans,
        "n_waiting": len(collected.waiting),
        "problems": collected.problems,
    }
