"""`runs`: the stored runs of all kinds: list, watch and delete them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import next_command, write_examples

if TYPE_CHECKING:
    from poor_bench.runs.history import RunProgress

_EPILOG = write_examples(
    """
  {program} runs                             all runs, newest last
  {program} runs --running                   what is running now, and how far it is
  {program} runs watch                       follow a run of another console or the dashboard
  {program} runs delete 20261122T0250
"""
)
_POLL_S = 0.5


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.option("--running", "only_running", is_flag=True, help="Only runs that are running.")
@json_option
@click.pass_context
def command(ctx: click.Context, only_running: bool, as_json: bool) -> int:
    """List, watch and delete runs of every kind.

    These are runs of tests, judged runs, pairwise comparisons, suite runs and searches.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from poor_bench.run_kinds import open_histories
    from poor_bench.runs.history import run_to_row

    app = ctx.ensure_object(AppContext)
    runs = [(history, run) for history in open_histories(app.data_dir) for run in history.runs()]
    runs.sort(key=lambda pair: pair[1].age)
    rows = [run_to_row(history.kind, run) for history, run in runs]
    rows = [row for row in rows if row["is_running"] or not only_running]
    if as_json:
        print_json({"runs": rows})
    elif rows:
        print_table(map(_build_cells, rows))
    else:
        click.echo("No run is running." if only_running else f"No runs yet. {_write_first_line()}")
    return 0


@command.command()
@click.argument("reference", metavar="[RUN]", default="")
@pass_app
def watch(app: AppContext, /, reference: str) -> int:
    """Follow a run until it ends, whichever process it belongs to.

    RUN is the start of its id, or `last`; by default the newest one that is running.
    """
    from poor_bench.cli.screen import open_job_view
    from poor_bench.run_kinds import find_any_run, find_running
    from poor_bench.runs.history import RunFollower

    if reference:
        history, run = find_any_run(app.data_dir, reference)
    else:
        running = find_running(app.data_dir)
        if not running:
            click.echo("No run is running.")
            return 0
        history, run = running[-1]
    follower = RunFollower(history.kind, run)
    progress = follower.progress()
    title = f"{history.kind.name} {run.run_id}"
    with open_job_view(title, progress.n_planned, quiet=False) as view:
        view.move(advance=progress.n_done)
        while progress.is_running:
            time.sleep(_POLL_S)
            before, progress = progress, follower.progress()
            if progress.n_done > before.n_done:
                view.move(advance=progress.n_done - before.n_done)
                view.tell(_describe_done(progress))
    say(f"{title} is not running: {_describe_done(progress)}")
    return 0


@command.command()
@click.argument("references", metavar="RUN...", nargs=-1, required=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def delete(app: AppContext, /, references: tuple[str, ...], yes: bool) -> int:
    """Delete runs and their files.

    Results of tests stay: they are in results.json as well.
    """
    from poor_bench.run_kinds import find_any_run

    for history, run in [find_any_run(app.data_dir, reference) for reference in references]:
        name = f"{history.kind.name} {run.run_id}"
        if not yes:
            click.confirm(f"Delete {name} ({history.kind.describe(run.header)})?", abort=True)
        history.delete(run)
        say(f"Deleted {name}")
    return 0


def _build_cells(row: dict[str, Any]) -> dict[str, str]:
    state = ""
    if row["is_running"]:
        planned = "" if row.get("n_planned") is None else f" of {row['n_planned']:,}"
        state = f"running: {row.get('n_done', 0):,}{planned}"
    return {
        "Run": row["run_id"],
        "Kind": row["kind"],
        "What": row["what"],
        "Started": row["started"][:16].replace("T", " "),
        "": state,
    }


def _describe_done(progress: RunProgress) -> str:
    planned = "" if progress.n_planned is None else f" of {progress.n_planned:,}"
    return f"{progress.n_done:,}{planned} done"


def _write_first_line() -> str:
    return f"Next: {next_command('run')}"
