"""What `run` looks at before it asks anybody: other runs, and the tests themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext
from poor_bench.cli.output import console, harmless
from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.messages import counted
from poor_bench.models.problem import Severity

if TYPE_CHECKING:
    from poor_bench.runs.turn import RunTurn

_SHOWN = 3
_LOOK_AGAIN_S = 0.5


def take_turn(turn: RunTurn, *, beside: bool, pause: Callable[[float], None] = time.sleep) -> bool:
    """Take the turn to run tests; return whether it was waited for.

    Neither of two runs knows what the other is asking, so both would ask the same.

    Args:
        turn: Whose turn it is.
        beside: Warn where another process has it, and do not wait.
        pause: Waits for some seconds.
    """
    if turn.take():
        return False
    under_way = f"{turn.other_run()} of another process (console or dashboard) is active"
    if beside:
        both = "both runs send its unfinished tests"
        click.echo(f"Warning: {under_way}: {both}. Ctrl-C stops this one.", err=True)
        return False
    ways = "Ctrl-C stops waiting, --beside starts at once"
    click.echo(f"Waiting: {under_way}. Its remaining tests run afterwards. {ways}.", err=True)
    with console(stderr=True).status("Waiting for the other run"):
        while not turn.take():
            pause(_LOOK_AGAIN_S)
    return True


def check_before_run(app: AppContext) -> None:
    """Check the tests themselves, as `validate` does, and tell of warnings.

    Raises:
        ConfigError: If a test cannot be right, such as one whose reference does not score 1.0.
    """
    with console(stderr=True).status("Checking the tests"):
        findings = app.config.lint()
    found = [*app.workspace.problems, *(finding.problem for finding in findings)]
    errors = [problem for problem in found if problem.severity is Severity.ERROR]
    if errors:
        fixable = any(f.fixes for f in findings if f.problem.severity is Severity.ERROR)
        fix = f" Some can be fixed by: {next_command('tests lint --fix')}" if fixable else ""
        raise ConfigError(
            f"the workspace has {counted(len(errors), 'faulty test')}",
            problems=errors,
            hint=f"Fix them, or add --unchecked.{fix}",
        )
    for problem in found[:_SHOWN]:
        click.echo(f"Warning: {harmless(str(problem))}", err=True)
    if len(found) > _SHOWN:
        click.echo(f"... and {len(found) - _SHOWN} more: {next_command('validate')}", err=True)
