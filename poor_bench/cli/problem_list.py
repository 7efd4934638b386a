"""Show problems of files: the worst first, each with its place and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from poor_bench.cli.output import harmless
from poor_bench.messages import counted
from poor_bench.models.problem import Problem, Severity

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def print_problems(problems: Sequence[Problem], limit: int) -> None:
    """Print at most `limit` problems, errors before warnings, and count the rest."""
    ordered = sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)
    for problem in ordered[:limit]:
        label = click.style(problem.severity.value, fg=_COLOURS[problem.severity], bold=True)
        where = problem.file + (f":{problem.line}" if problem.line else "")
        click.echo(f"{label} {harmless(f'{where} {problem.place}'.rstrip())}")
        click.echo(f"  {harmless(problem.message)}")
        if problem.hint:
            click.echo(f"  {click.style('hint:', dim=True)} {harmless(problem.hint)}")
    if len(ordered) > limit:
        click.echo(f"... and {len(ordered) - limit} more; --all shows them")


def count_problems(problems: Sequence[Problem]) -> str:
    """Return how many errors and warnings there are, in words."""
    n_errors = sum(problem.severity is Severity.ERROR for problem in problems)
    n_warnings = len(problems) - n_errors
    return f"{counted(n_errors, 'error')}, {counted(n_warnings, 'warning')}"


def problems_to_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return problems as they stand in JSON output."""
    return [asdict(problem) for problem in problems]
