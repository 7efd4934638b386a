"""`evaluators`: list and show evaluators, and write a new one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import write_examples, write_importing_command
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from poor_bench.plugins import LoadedEvaluator


_EPILOG = write_examples(
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
    print_table(map(_build_row, report.evaluators))
    for line in [*broken.values(), *notes]:
        say(line, err=True)
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
    click.echo(f"Run its test: {write_importing_command(*command)}")
    return 0


def _build_row(evaluator: LoadedEvaluator) -> dict[str, str]:
    schema = evaluator.parameters_schema()
    required = schema.get("required", ())
    names = schema.get("properties", {})
    takes = ", ".join(name if name in required else f"{name}?" for name in names)
    return {
        "Evaluator": evaluator.name,
        "What it does": evaluator.description,
        "Parameters (? optional)": takes,
    }


def _to_json(evaluator: LoadedEvaluator) -> dict[str, Any]:
    return {
        "name": evaluator.name,
        "description": evaluator.description,
        "origin": evaluator.origin,
        "parameters_schema": evaluator.parameters_schema(),
    }


@command.command()
@click.argument("name")
@json_option
@pass_app
def show(app: AppContext, /, name: str, as_json: bool) -> int:
    """Show what an evaluator does and what parameters it takes."""
    evaluator = app.evaluators.get(name)
    schema = evaluator.parameters_schema()
    if as_json:
        facts = {"name": name, "origin": evaluator.origin, "documentation": evaluator.documentation}
        print_json(facts | {"parameters_schema": schema})
        return 0
    click.echo(f"{click.style(name, bold=True)}  {harmless(evaluator.origin)}\n")
    say(evaluator.documentation)
    if schema.get("properties"):
        print_table(_build_rows(schema))
    return 0


def _build_rows(schema: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        default = "required" if name in required else json.dumps(field.get("default"))
        yield {
            "Parameter": name,
            "Type": _describe_type(field),
            "Default": default,
            "Meaning": field.get("description", ""),
        }


def _describe_type(field: Mapping[str, Any]) -> str:
    """Describe the type of a field, such as `number or null`."""
    if "enum" in field or "const" in field:
        return " or ".join(json.dumps(value) for value in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        return " or ".join(_describe_type(choice) for choice in field["anyOf"])
    if "$ref" in field:
        return "object"
    if field.get("type") == "array" and field.get("items"):
        return f"list of {_describe_type(field['items'])}"
    return str(field.get("type", "any"))
