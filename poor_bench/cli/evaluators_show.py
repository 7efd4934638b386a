"""`evaluators show`: what an evaluator does and what parameters it takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console, harmless, json_option, plain_table, print_json


@click.command()
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
    click.echo(harmless(evaluator.documentation))
    if schema.get("properties"):
        columns = ["Parameter", "Type", "Default", "Meaning"]
        console().print(plain_table(columns, _rows(schema)))
    return 0


def _rows(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        default = "required" if name in required else json.dumps(field.get("default"))
        yield name, _type_of(field), default, field.get("description", "")


def _type_of(field: Mapping[str, Any]) -> str:
    """Return a field's type in words, such as `number or null`."""
    if "enum" in field or "const" in field:
        return " or ".join(json.dumps(value) for value in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        return " or ".join(_type_of(choice) for choice in field["anyOf"])
    if "$ref" in field:
        return "object"
    if field.get("type") == "array" and field.get("items"):
        return f"list of {_type_of(field['items'])}"
    return str(field.get("type", "any"))
