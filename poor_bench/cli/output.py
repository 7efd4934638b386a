"""Print tables, JSON, problems and errors; hostile text is made harmless."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import counted
from poor_bench.models.problem import Problem, Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
"""The option that every listing takes."""


Column = str | tuple[str, str]
"""A heading, or heading and justification ("left", "right")."""
_PIPED_WIDTH = 200
_NARROWEST_TEXT = 12


def console(*, stderr: bool = False) -> Console:
    """Return a console; when it is piped it has no colours and room for long lines."""
    from poor_bench.cli.screen import Screen

    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if is_terminal else _PIPED_WIDTH
    return Screen(stderr=stderr, highlight=False, emoji=False, width=width)


def harmless(text: str) -> str:
    """Return `text` without what could command a terminal: escapes and other control characters.

    Newlines and tabs stay; every other control character becomes its visible picture or U+FFFD.
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t":
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
        return "\ufffd"
    return character


def plain_table(columns: Iterable[Column], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of harmless cells, whose figures are never cut.

    Args:
        columns: A heading each, or heading and justification ("left", "right").
        rows: One text for each column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    cells = [[Text(harmless(cell)) for cell in row] for row in rows]
    for position, column in enumerate(columns):
        heading, justify = (column, "left") if isinstance(column, str) else column
        is_figure = justify == "right"
        width = max(len(heading), *(row[position].cell_len for row in cells), 0)
        table.add_column(
            heading,
            justify="right" if is_figure else "left",
            overflow="fold",
            no_wrap=is_figure,
            min_width=width if is_figure else min(width, _NARROWEST_TEXT),
        )
    for row in cells:
        table.add_row(*row)
    return table


def print_json(value: Any) -> None:
    """Print `value` as indented JSON."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    click.echo(orjson.dumps(value, option=options, default=str).decode())


def print_error(error: PoorBenchError) -> None:
    """Say on standard error what is wrong, where, and the way out."""
    click.echo(f"Error: {harmless(str(error))}", err=True)
    if isinstance(error, ConfigError):
        for problem in error.problems:
            click.echo(f"  {harmless(str(problem))}", err=True)
    if error.hint:
        click.echo(f"  {harmless(error.hint)}", err=True)


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
