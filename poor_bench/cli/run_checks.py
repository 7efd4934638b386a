"""What `run` says of the tests before it asks anybody."""

from __future__ import annotations

import click

from poor_bench.cli.context import AppContext
from poor_bench.cli.output import console, harmless
from poor_bench.errors import ConfigError
from poor_bench.models.problem import Severity

_SHOWN = 3


def warn_of_other_run(app: AppContext) -> None:
    """Tell of a run of another process, which cannot know what this one asks."""
    from poor_bench.result_store.journal import newest_owned

    other = newest_owned(app.config.store.paths.journals())
    if other is not None:
        click.echo(
            f"Warning: the run {other.stem} of another process is under way: "
            "what it has not finished is asked by both. Ctrl-C ends this one.",
            err=True,
        )


def check_before_run(app: AppContext) -> None:
    """Check the tests themselves, as `validate` does, and tell of warnings.

    Raises:
        ConfigError: If a test cannot be right, such as one whose reference does not score 1.0.
    """
    with console(stderr=True).status("Checking the tests"):
        found = [*app.workspace.problems, *(finding.problem for finding in app.config.lint())]
    errors = [problem for problem in found if problem.severity is Severity.ERROR]
    if errors:
        raise ConfigError(
            f"{len(errors)} of the tests cannot be right",
            problems=errors,
            hint="Mend them (see also: python main.py tests lint --fix), or run with --unchecked.",
        )
    for problem in found[:_SHOWN]:
        click.echo(f"Warning: {harmless(str(problem))}", err=True)
    if len(found) > _SHOWN:
        click.echo(f"... and {len(found) - _SHOWN} more: python main.py validate", err=True)
