"""`batches`: list and cancel the batches at providers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError, ProviderError, RunRefusedError
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.runner.batches.observe import BatchView
    from poor_bench.runs.batch_notes import BatchNote
    from poor_bench.workspace_runner import WorkspaceRunner


_EPILOG = write_examples(
    """
  {program} run --batch                      submit what is pending
  {program} batches                          how far the open batches are
  {program} batches list --all --json        closed ones, too
  {program} batches cancel 3f2a              stop one; its answers so far are collected later
  {program} batches cancel --forget 3f2a     give one up that its provider does not know
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List and cancel batches: pending tests that a provider answers later at a lower price.

    `run --batch` submits them; `run` and `status` collect what is ready.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    return _list(ctx.ensure_object(AppContext), with_closed=False, as_json=False)


@command.command(name="list")
@click.option("--all", "with_closed", is_flag=True, help="Include completed batches.")
@json_option
@pass_app
def list_batches(app: AppContext, /, with_closed: bool, as_json: bool) -> int:
    """List the batches and ask their providers how far they are."""
    return _list(app, with_closed=with_closed, as_json=as_json)


@command.command()
@click.argument("references", metavar="[BATCH]...", nargs=-1)
@click.option("--all", "all_open", is_flag=True, help="All open batches.")
@click.option("--forget", is_flag=True, help="Do not ask the provider; the tests are pending now.")
@json_option
@pass_app
def cancel(
    app: AppContext, /, references: tuple[str, ...], all_open: bool, forget: bool, as_json: bool
) -> int:
    """Cancel batches. BATCH is the start of its key or of its id at the provider.

    The provider stops within minutes. `run` then collects the answers that it gave; the other tests
    are pending again.
    """
    if bool(references) == all_open:
        raise click.UsageError("name batches, or give --all")
    from poor_bench.runs.turn import RunTurn

    runner, turn = _open(app), RunTurn(app.store.paths.history)
    if not turn.take():
        raise RunRefusedError(f"{turn.other_run()} is active", hint="Cancel when it has ended.")
    try:
        notes = runner.batches.notes.list_open()
        chosen = notes if all_open else [_find(notes, reference) for reference in references]
        outcomes = [_cancel(runner, note, forget=forget) for note in chosen]
    finally:
        turn.give_back()
    if as_json:
        print_json({"batches": outcomes})
    else:
        for outcome in outcomes:
            say(f"{outcome['key']}: {outcome['problem'] or outcome['outcome']}")
        if not outcomes:
            click.echo("No batch is open.")
    return 3 if any(outcome["problem"] for outcome in outcomes) else 0


def _cancel(runner: WorkspaceRunner, note: BatchNote, *, forget: bool) -> dict[str, str]:

    done = {"key": note.key, "batch_id": note.batch_id, "outcome": "", "problem": ""}
    if forget:
        runner.batches.observer.forget(note)
        return done | {"outcome": "given up; its tests are pending"}
    view = runner.batches.observer.look(note)
    if view.note.outcome:
        return done | {"outcome": view.note.outcome}
    if view.problem:
        return done | {"problem": view.problem}
    if view.is_ready:
        return done | {"outcome": f"has ended. Collect it: {next_command('run')}"}
    try:
        runner.batches.observer.cancel(view)
    except ProviderError as error:
        return done | {"problem": str(error)}
    return done | {"outcome": f"cancelled. Collect what was answered: {next_command('run')}"}


def _find(notes: Iterable[BatchNote], reference: str) -> BatchNote:

    found = [note for note in notes if _is_named(note, reference)]
    if len(found) == 1:
        return found[0]
    problem = "names several batches" if found else "names no open batch"
    raise ConfigError(f"{reference!r} {problem}", hint=f"List them: {next_command('batches')}")


def _is_named(note: BatchNote, reference: str) -> bool:
    return note.key.startswith(reference) or (
        bool(note.batch_id) and note.batch_id.startswith(reference)
    )


def _list(app: AppContext, *, with_closed: bool, as_json: bool) -> int:
    from poor_bench.runner.batches.observe import BatchView
    from poor_bench.runs.turn import RunTurn

    runner, turn = _open(app), RunTurn(app.store.paths.history)
    try:
        views = runner.batches.observer.look_at_all(has_turn=turn.take())
    finally:
        turn.give_back()
    if with_closed:
        known = {view.note.key for view in views}
        closed = runner.batches.notes.list_closed()
        views = [*(BatchView(note=note) for note in closed if note.key not in known), *views]
    if as_json:
        print_json({"batches": [_to_json(view) for view in views]})
    elif views:
        print_table(_build_cells(view, app.llm_names) for view in views)
        for problem in filter(None, (view.problem for view in views)):
            say(f"Warning: {problem}.", err=True)
    else:
        click.echo(f"No batch is open. Submit one: {next_command('run --batch')}")
    return 3 if any(view.problem for view in views) else 0


def _open(app: AppContext) -> WorkspaceRunner:
    from poor_bench.workspace_runner import WorkspaceRunner

    return WorkspaceRunner(app.config)


def _to_json(view: BatchView) -> dict[str, Any]:
    note, progress = view.note, view.progress
    return {
        "key": note.key,
        "batch_id": note.batch_id,
        "llm_id": note.llm_id,
        "created": note.created,
        "state": view.state,
        "n_items": len(note.items),
        "n_done": progress.n_done if progress else None,
        "estimated_cost_usd": note.cost_usd,
        "outcome": note.outcome,
        "problem": view.problem,
    }


def _build_cells(view: BatchView, names: dict[str, str]) -> dict[str, str]:
    from poor_bench.metrics import cost_text

    note, progress = view.note, view.progress
    done = f"{progress.n_done:,} of " if progress else ""
    return {
        "Batch": note.key,
        "Model": names.get(note.llm_id, note.llm_id),
        "Submitted": note.created[:16].replace("T", " "),
        "State": note.outcome or view.state,
        ">Requests": f"{done}{write_count(len(note.items), 'request')}",
        ">Estimated cost": "n/a" if note.cost_usd is None else cost_text(note.cost_usd),
        "Id at the provider": note.batch_id,
    }
