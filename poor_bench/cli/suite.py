"""`suite`: run suites of cases for computer-using agents, and show the results."""

from __future__ import annotations

import click

from poor_bench.cli.suite_import import import_suite
from poor_bench.cli.suite_list import list_suites
from poor_bench.cli.suite_record import record
from poor_bench.cli.suite_report import report
from poor_bench.cli.suite_run import run
from poor_bench.cli.suite_validate import validate
from poor_bench.command_line import examples

_EPILOG = examples(
    """
  {program} suite run example                    the example suite; needs no model
  {program} suite run my_suite.yaml --tag smoke --trials 3 --html report.html
  {program} suite validate my_suite.yaml
  {program} suite report last --html report.html
  {program} suite record cancel-order            turn an agent's trial into a playbook
  {program} suite import miniwob                 import a public benchmark
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Test computer-using agents with suites of cases: browser, model, playbooks."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_suites)
    return 0


command.add_command(run)
command.add_command(validate)
command.add_command(report)
command.add_command(list_suites)
command.add_command(record)
command.add_command(import_suite)
