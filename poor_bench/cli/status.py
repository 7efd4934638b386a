"""`status`: how far every LLM is, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.next_step import next_step
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.command_line import examples, next_command
from poor_bench.wording import counted

if TYPE_CHECKING:
    from poor_bench.runner.states import TrialStates

_EPILOG = examples(
    """
  {program} status
  {program} status --class 'python*' --json
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
@json_option
@pass_app
def command(app: AppContext, /, trials: int, as_json: bool, **filters: Any) -> int:
    """Show completed, pending, failed and stale trials per model.

    Failed: the trial has no score, and its newest attempt failed; `run` tries it again. Stale: it
    has a score, but the prompt, the parameters or the evaluator changed since. A scored trial stays
    done or stale if a newer attempt failed; such attempts are counted apart.
    """
    from poor_bench.workspace_runner import WorkspaceRunner

    runner = WorkspaceRunner(app.config)
    states = runner.states(selection_from(filters, trials=trials))
    rows = [_row(states, index) for index in range(len(states.llms))]
    if as_json:
        print_json({"workspace": str(app.data_dir), "llms": rows})
        return 0
    _print(app, states, rows)
    return 0


def _row(states: TrialStates, index: int) -> dict[str, Any]:
    standing = states.standing(index)
    llm = states.llms[index]
    return {
        "llm_id": llm.id,
        "label": llm.label or llm.id,
        "total": sum(states.count(index).values()),
        **standing._asdict(),
    }


def _print(app: AppContext, states: TrialStates, rows: list[dict[str, Any]]) -> None:
    columns: list[Column] = [
        "Model",
        *((name, "right") for name in ("Done", "Pending", "Failed", "Stale")),
        ("Newer attempt failed", "right"),
    ]
    cells = [
        [
            row["label"],
            f"{row['done']}/{row['total']}",
            str(row["pending"] or ""),
            str(row["failed"] or ""),
            str(row["stale_request"] + row["stale_score"] or ""),
            str(row["newer_failed"] or ""),
        ]
        for row in rows
    ]
    if not any(row["newer_failed"] for row in rows):
        columns, cells = columns[:-1], [cell[:-1] for cell in cells]
    classes = {test.class_id for test in states.tests}
    click.echo(
        f"Workspace {app.data_dir}: {counted(len(states.tests), 'test')} in "
        f"{counted(len(classes), 'class')}, {counted(len(states.llms), 'model')}"
    )
    console().print(plain_table(columns, cells))
    click.echo(_what_next(rows))


def _what_next(rows: list[dict[str, Any]]) -> str:
    if not rows or not any(row["total"] for row in rows):
        return "Nothing to run yet. Add models to llms.json and tests to tests.json."
    if any(row["total"] > row["done"] for row in rows):
        return f"Next: {next_step('run')}"
    looks = f"{next_command('report')}, or {next_command('dashboard')}"
    return f"Nothing is pending. Next: {looks}"
