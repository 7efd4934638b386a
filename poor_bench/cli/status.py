"""`status`: how far every LLM is, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app, write_next_step
from poor_bench.cli.options import read_selection, selection_options, trials_option
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.cli.process import prepare_to_look
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count, write_disabled_tests, write_removed_tests
from poor_bench.metrics import STATES

if TYPE_CHECKING:
    from poor_bench.runner.selection import Selection
    from poor_bench.runner.trial_states import TrialStates
    from poor_bench.workspace_runner import WorkspaceRunner

_EPILOG = write_examples(
    """
  {program} status
  {program} status --class 'python*' --json
"""
)


@click.command(epilog=_EPILOG)
@selection_options
@trials_option
@json_option
@pass_app
def command(app: AppContext, /, trials: int, as_json: bool, **filters: Any) -> int:
    """Show completed, pending, failed and stale trials per model.

    Failed: the trial has no score, and its newest attempt failed; `run` retries it. Stale: it
    has a score, but the prompt, the parameters or the evaluator changed since. A scored trial stays
    done or stale if a newer attempt failed; such attempts are counted apart. In batch: of the
    pending, failed and stale trials, those that a provider answers later. Batches that are ready
    are collected first; exits with 3 if that fails.
    """
    from poor_bench.workspace_runner import WorkspaceRunner

    prepare_to_look()
    selection = read_selection(filters, trials=trials)
    removed = _count_removed_llms(app, selection)
    runner = WorkspaceRunner(app.config)
    problems = _collect_batches(app, runner, quiet=as_json) if runner.has_batches else []
    states = runner.states(selection, removed)
    rows = [_build_row(states, index) for index in range(len(states.llms))]
    if as_json:
        print_json(
            {
                "workspace": str(app.data_dir),
                "llms": rows,
                "n_disabled_tests": states.n_disabled,
                "n_results_of_removed_tests": states.n_removed,
                "n_results_of_removed_llms": removed,
                "n_results_of_further_trials": states.n_further,
                "batch_problems": problems,
            }
        )
        return 3 if problems else 0
    if rows or not removed:
        _print(app, states, rows)
    for llm_id, n_results in removed.items():
        say(f"{llm_id}: {write_count(n_results, 'result')}; not in llms.json.")
    return 3 if problems else 0


def _collect_batches(app: AppContext, runner: WorkspaceRunner, *, quiet: bool) -> list[str]:
    """Collect batches that are ready, unless a run is active; return what went wrong.

    No model is asked: answers that one judges wait for the next run.
    """
    from poor_bench.cli.batch_runs import collect, print_collected, print_problems
    from poor_bench.runs.turn import RunTurn

    turn = RunTurn(app.store.paths.history)
    if not turn.take():
        return []
    try:
        collected = collect(runner, quiet=quiet, judges=False)
    except ConfigError as error:
        problems = [f"batches were not collected: {error}"]
    else:
        problems = collected.problems
        if not quiet:
            print_collected(collected)
    finally:
        runner.close()
        turn.give_back()
    print_problems(problems)
    return problems


def _count_removed_llms(app: AppContext, selection: Selection) -> dict[str, int]:
    """Count the results of the models that `--llm` names and that are not in llms.json any more."""
    if not selection.llms:
        return {}
    from poor_bench.runner.selection import select

    n_results = app.store.count_by_llm()
    chosen = select(app.workspace, selection, n_results)
    return {llm_id: n_results[llm_id] for llm_id in sorted(chosen.removed_llms)}


def _build_row(states: TrialStates, index: int) -> dict[str, Any]:
    standing = states.standing(index)
    llm = states.llms[index]
    return {
        "llm_id": llm.id,
        "label": llm.label or llm.id,
        "total": standing.total,
        **standing._asdict(),
    }


def _print(app: AppContext, states: TrialStates, rows: list[dict[str, Any]]) -> None:
    has_newer = any(row["newer_failed"] for row in rows)
    classes = {test.class_id for test in states.tests}
    click.echo(
        f"Workspace {app.data_dir}: {write_count(len(states.tests), 'test')} in "
        f"{write_count(len(classes), 'class')}, {write_count(len(states.llms), 'model')}"
    )
    newer, in_batch = ">Newer attempt failed", ">In batch"
    has_batches = any(row["in_batch"] for row in rows)
    print_table(
        {
            "Model": row["label"],
            **{f">{state.label}": state.show(row) for state in STATES},
            **({in_batch: str(row["in_batch"] or "")} if has_batches else {}),
            **({newer: str(row["newer_failed"] or "")} if has_newer else {}),
        }
        for row in rows
    )
    if states.n_disabled:
        click.echo(f"{write_disabled_tests(states.n_disabled)}.")
    if states.n_further:
        further = write_count(states.n_further, "result")
        click.echo(f"{further} of trials above {states.trials} not counted. Use --trials.")
    if states.n_removed:
        click.echo(f"{write_removed_tests(states.n_removed)}.")
    click.echo(_suggest_next_step(rows))


def _suggest_next_step(rows: list[dict[str, Any]]) -> str:
    if not rows or not any(row["total"] for row in rows):
        return "Nothing to run yet. Add models to llms.json and tests to tests.json."
    if any(row["total"] > row["done"] + row["in_batch"] for row in rows):
        return f"Next: {write_next_step('run')}"
    if any(row["in_batch"] for row in rows):
        return f"All pending trials are in a batch. Collect them later: {write_next_step('run')}"
    looks = f"{next_command('report')}, or {next_command('dashboard')}"
    return f"Nothing is pending. Next: {looks}"
