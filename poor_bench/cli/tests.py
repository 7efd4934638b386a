"""`tests`: list, show, check, analyse, import and generate tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.cli.tests_analyse import analyse
from poor_bench.cli.tests_generate import generate
from poor_bench.cli.tests_import import import_tests
from poor_bench.cli.tests_lint import lint
from poor_bench.cli.tests_show import show
from poor_bench.command_line import examples
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.models.test import Test

_EPILOG = examples(
    """
  {program} tests                              all tests
  {program} tests list --class 'math*' --level 1-2
  {program} tests show math_001                its prompt for each model
  {program} tests lint --fix                   find and fix unfair tests
  {program} tests analyse                      tests that look wrong by their results
  {program} tests import HumanEval.jsonl.gz    add a public benchmark
  {program} tests generate arithmetic          add generated tests
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List, show, check, analyse, import and generate tests."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_tests, llms=(), classes=(), levels=(), tests=(), tags=())
    return 0


@command.command("list", epilog=_EPILOG)
@selection_options
@json_option
@pass_app
def list_tests(app: AppContext, /, as_json: bool = False, **filters: Any) -> int:
    """List the tests of the workspace."""
    from poor_bench.runner.selection import select

    chosen = select(app.workspace, selection_from(filters)).tests
    rows = [_row(test, app.workspace) for test in chosen]
    if as_json:
        print_json({"tests": rows})
        return 0
    columns: list[Column] = ["Test", "Class", ("Level", "right"), "Evaluator", "Tags"]
    cells = [
        [
            row["test_id"],
            row["class_id"],
            str(row["level"]),
            row["evaluator"],
            ", ".join(row["tags"]),
        ]
        for row in rows
    ]
    console().print(plain_table(columns, cells))
    click.echo(counted(len(rows), "test"))
    return 0


def _row(test: Test, workspace: Workspace) -> dict[str, Any]:
    from poor_bench.models.test import merge_specs

    test_class = workspace.test_classes[test.class_id]
    return {
        "test_id": test.test_id,
        "class_id": test.class_id,
        "level": test.level,
        "evaluator": merge_specs(test_class.evaluator, test.evaluator).name,
        "tags": [*test.tags, *test_class.tags],
        "has_reference": test.reference_response is not None,
    }


command.add_command(show)
command.add_command(lint)
command.add_command(analyse)
command.add_command(import_tests)
command.add_command(generate)
