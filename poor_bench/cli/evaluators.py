"""`evaluators`: list and show evaluators, and write a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.evaluators_show import show
from poor_bench.cli.output import console, harmless, json_option, plain_table, print_json
from poor_bench.command_line import examples, importing_command

if TYPE_CHECKING:
    from poor_bench.plugins import LoadedEvaluator

_EPILOG = examples(
    """
  {program} evaluators                   all evaluators
  {program} evaluators show choice       its purpose and parameters
  {program} evaluators new word_count    create one, with its test
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List, show and create evaluators."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_evaluators)
    return 0


@command.command("list", epilog=_EPILOG)
@json_option
@pass_app
def list_evaluators(app: AppContext, /, as_json: bool = False) -> int:
    """List the evaluators of the workspace and the built-in ones."""
    report = app.evaluators.load_all()
    broken = {name: str(error) for name, error in report.failures.items()}
    notes = app.evaluators.notes
    if as_json:
        rows = [_to_json(evaluator) for evaluator in report.evaluators]
        print_json({"evaluators": rows, "broken": broken, "notes": notes})
        return 0
    columns = ["Evaluator", "What it does", "Parameters (? optional)"]
    console().print(plain_table(columns, map(_cells, report.evaluators)))
    for line in [*broken.values(), *notes]:
        click.echo(harmless(line), err=True)
    return 0


@command.command(epilog=_EPILOG)
@click.argument("name")
@pass_app
def new(app: AppContext, /, name: str) -> int:
    """Create an evaluator and its test in the workspace."""
    from poor_bench.plugins.new_plugin import write_new_evaluator

    files = write_new_evaluator(name, app.data_dir / "evaluators", app.evaluators)
    click.echo(f"Wrote {files.evaluator} and {files.test}.")
    command = ("-m unittest discover -s", files.test.parent, "-p", files.test.name)
    click.echo(f"Run its test: {importing_command(*command)}")
    return 0


def _cells(evaluator: LoadedEvaluator) -> tuple[str, str, str]:
    schema = evaluator.parameters_schema()
    required = schema.get("required", ())
    names = schema.get("properties", {})
    takes = ", ".join(name if name in required else f"{name}?" for name in names)
    return evaluator.name, evaluator.description, takes


def _to_json(evaluator: LoadedEvaluator) -> dict[str, Any]:
    return {
        "name": evaluator.name,
        "description": evaluator.description,
        "origin": evaluator.origin,
        "parameters_schema": evaluator.parameters_schema(),
    }


command.add_command(show)
