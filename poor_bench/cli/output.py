"""Print tables, JSON, problems and errors; hostile text is made harmless."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import click

from poor_bench.cli.process import PIPED_WIDTH
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import harmless, write_count
from poor_bench.models.problem import Problem, Severity

if TYPE_CHECKING:
    from rich.console import Console

    from poor_bench.runs.history import RunKind

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
"""The option that every listing takes."""
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def say(text: str, *, err: bool = False) -> None:
    """Print text that may come from a model, a server or a file."""
    click.echo(harmless(text), err=err)


def shorten(text: str, most: int) -> str:
    """Write text on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def console(*, stderr: bool = False) -> Console:
    """Open the console of standard output or standard error."""
    from poor_bench.cli.screen import Screen

    return Screen(stderr=stderr)


class StatusLine(Protocol):
    """What a command waits for, on screen while it waits."""

    def update(self, status: str) -> None:
        """Show another text."""


class _NoStatus:
    """Stands in for a status line without a terminal."""

    def update(self, status: str) -> None:
        """Show nothing."""


def show_status(text: str) -> AbstractContextManager[StatusLine]:
    """Show on a terminal, while a `with` block lasts, what it waits for."""
    if not sys.stderr.isatty():
        return nullcontext(
            _NoStatus()
        )  # rich would show nothing, and takes a tenth of a second to import
    return console(stderr=True).status(harmless(text))


def print_table(
    rows: Iterable[Mapping[str, str]], *, hides_empty: bool = False, n_dim: int = 0
) -> None:
    """Print a table of harmless cells, whose figures are never cut; see `build_table`."""
    rows = list(rows)
    plain = None if needs_rich() else write_plain_table(rows, hides_empty=hides_empty)
    if plain is not None:
        click.echo(plain, nl=False)
        return
    from poor_bench.cli.screen import build_table

    console().print(build_table(rows, hides_empty=hides_empty, n_dim=n_dim))


Block = str | list[dict[str, str]]
"""A line, or the rows of a table, see `build_table`."""


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print lines and tables."""
    for block in blocks:
        if isinstance(block, str):
            click.echo(block)
        else:
            print_table(block)


_STYLED = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""Environment variables that let rich write colours to a pipe."""


def needs_rich() -> bool:
    """True if standard output may show colours, be narrow or lack letters."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return (
        sys.stdout.isatty()
        or not encoding.lower().startswith("utf")
        or not _STYLED.isdisjoint(os.environ)
    )


def write_plain_table(rows: Sequence[Mapping[str, str]], *, hides_empty: bool) -> str | None:
    """Write a table as rich writes that of `build_table` to a pipe, in a tenth of the time.

    Returns:
        None where a line breaks or holds more than text: that is left to rich.
    """
    headings = list(rows[0]) if rows else []
    shown = [name for name in headings if not hides_empty or any(row[name] for row in rows)]
    titles = [name.removeprefix(">") for name in shown]
    cells = [titles, *([harmless(row[name]) for name in shown] for row in rows)]
    text = "".join(map("".join, cells))
    if not shown or not text.isprintable() or any("[" in title for title in titles):
        return None
    if any(cell != cell.strip() for row in cells for cell in row):
        return None
    measure = len if text.isascii() else _import_measure()
    sizes = [[measure(cell) for cell in row] for row in cells]
    widths = [max(column) for column in zip(*sizes, strict=True)]
    n_total = sum(widths) + 3 * len(widths) - 1
    if n_total > PIPED_WIDTH:
        return None
    places = [(width, name.startswith(">")) for width, name in zip(widths, shown, strict=True)]
    lines = [_align(row, own, places) for row, own in zip(cells, sizes, strict=True)]
    blank = " " * n_total
    lines.insert(1, f" {'─' * (n_total - 2)} ")
    return "\n".join([blank, *lines, blank, ""])


def _import_measure() -> Callable[[str], int]:
    from rich.cells import cell_len

    return cell_len


def _align(cells: Sequence[str], sizes: Sequence[int], places: Sequence[tuple[int, bool]]) -> str:
    padded = (
        " " * (width - size) + cell if is_right else cell + " " * (width - size)
        for cell, size, (width, is_right) in zip(cells, sizes, places, strict=True)
    )
    return f" {'   '.join(padded)} "


def print_columns(rows: Iterable[Mapping[str, Any]], fields: Mapping[str, str]) -> None:
    """Print fields of JSON rows as a table; lists are joined, and what is missing is empty.

    Args:
        rows: As they stand in JSON output.
        fields: Name of the field by heading; see `build_table` for headings.
    """
    print_table(
        {heading: _write_cell(row.get(name)) for heading, name in fields.items()} for row in rows
    )


def _write_cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def print_json(value: Any) -> None:
    """Print `value`, whose parts may be dataclasses and enums, as indented JSON."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    click.echo(orjson.dumps(value, option=options, default=str).decode())


def print_plan_json(
    kind: RunKind,
    about: Mapping[str, Any],
    more: Mapping[str, Any],
    *,
    n_planned: int | None = None,
    cost_usd: float | None,
) -> None:
    """Print a plan as JSON: as of all kinds of runs under `plan`, see `plan_to_json`, and more."""
    from poor_bench.runs.history import plan_to_json

    plan = plan_to_json(kind, about, n_planned=n_planned, cost_usd=cost_usd)
    print_json({"plan": plan, **more})


def print_error(error: PoorBenchError) -> None:
    """Print on standard error what is wrong, where, and how to fix it."""
    say(f"Error: {error}", err=True)
    for problem in error.problems if isinstance(error, ConfigError) else ():
        say(f"  {problem}", err=True)
    if error.hint:
        say(f"  {error.hint}", err=True)


def print_problems(problems: Sequence[Problem], limit: int | None = None) -> None:
    """Print at most `limit` problems, errors before warnings, and count the rest."""
    ordered = sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)
    for problem in ordered[:limit]:
        label = click.style(problem.severity.value, fg=_COLOURS[problem.severity], bold=True)
        where = problem.file + (f":{problem.line}" if problem.line else "")
        click.echo(f"{label} {harmless(f'{where} {problem.place}'.rstrip())}")
        say(f"  {problem.message}")
        if problem.hint:
            click.echo(f"  {click.style('hint:', dim=True)} {harmless(problem.hint)}")
    if limit is not None and len(ordered) > limit:
        click.echo(f"... and {len(ordered) - limit} more; --all shows them")


def has_errors(problems: Iterable[Problem]) -> bool:
    """True if one of the problems is more than a warning."""
    return any(problem.severity is Severity.ERROR for problem in problems)


def count_problems(problems: Sequence[Problem]) -> str:
    """Count errors and warnings, in words."""
    n_errors = sum(problem.severity is Severity.ERROR for problem in problems)
    n_warnings = len(problems) - n_errors
    return f"{write_count(n_errors, 'error')}, {write_count(n_warnings, 'warning')}"
