"""What rich draws: the screen, its tables, and the progress of a job. Imported on demand."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from poor_bench.cli.process import PIPED_WIDTH
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from rich.progress import Progress

_WIDEST = 10_000
_NARROWEST_TEXT = 12


class Screen(Console):
    """A console that cuts no table, and leaves a closed pipe to `main`."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        """Open standard output or error; a pipe has no colours and room for long lines."""
        is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
        options = {"width": None if is_terminal else PIPED_WIDTH, **options}
        super().__init__(stderr=stderr, highlight=False, emoji=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; where a table needs more room than there is, the terminal breaks its lines."""
        boundless = self.options.update(max_width=_WIDEST)
        tables = [item for item in objects if isinstance(item, Table)]
        needed = [self.measure(table, options=boundless).minimum for table in tables]
        self.width = max([self.width, *needed])
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Raise what every other way of printing raises.

        Raises:
            BrokenPipeError: Always.
        """
        raise BrokenPipeError


def build_table(
    rows: Iterable[Mapping[str, str]], *, hides_empty: bool = False, n_dim: int = 0
) -> Table:
    """Build a table of harmless cells; its figures are never cut.

    Args:
        rows: Text by heading, with the same headings in each. `>` before a heading aligns the
            column to the right, as in a format specification.
        hides_empty: Omit columns without any text.
        n_dim: Rows at the end that are grey.
    """
    rows = list(rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = list(rows[0]) if rows else []
    shown = [name for name in headings if not hides_empty or any(row[name] for row in rows)]
    cells = [[Text(harmless(row[name])) for name in shown] for row in rows]
    for position, heading in enumerate(shown):
        is_figure = heading.startswith(">")
        title = heading.removeprefix(">")
        width = max(len(title), *(row[position].cell_len for row in cells))
        table.add_column(
            title,
            justify="right" if is_figure else "left",
            overflow="fold",
            no_wrap=is_figure,
            min_width=width if is_figure else min(width, _NARROWEST_TEXT),
        )
    for position, row in enumerate(cells):
        table.add_row(*row, style="dim" if position >= len(cells) - n_dim else None)
    return table


class JobView:
    """Progress that is not shown."""

    def move(self, note: str = "", **changes: Any) -> None:
        """Change the live bar: `note`, and `advance`, `completed` or `total`."""

    def tell(self, line: str) -> None:
        """Print a line where no live bar is shown."""

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""


class _Lines(JobView):
    """Progress as lines on standard error; the job goes on if nobody reads them any more."""

    def tell(self, line: str) -> None:
        with suppress(BrokenPipeError):
            click.echo(harmless(line), err=True)

    say = tell


class _Bar(JobView):
    """Progress as a live bar."""

    def __init__(self, bars: Progress, title: str, total: int | None) -> None:
        self._bars = bars
        self._task = bars.add_task(harmless(title), total=total, note="")

    def move(self, note: str = "", **changes: Any) -> None:
        self._bars.update(self._task, note=harmless(" ".join(note.split())), **changes)

    def say(self, line: str) -> None:
        self._bars.console.print(Text(harmless(line)))


@contextmanager
def open_job_view(title: str = "", total: int | None = 0, *, quiet: bool) -> Iterator[JobView]:
    """Show progress in the way that suits standard error; not at all for `--json`.

    Args:
        title: Text before the bar.
        total: Steps of the job; None if unknown.
        quiet: True to show nothing.
    """
    if quiet:
        yield JobView()
    elif sys.stderr.isatty():
        with open_bars() as bars:
            yield _Bar(bars, title, total)
    else:
        yield _Lines()


def open_bars(*, with_time_left: bool = False) -> Progress:
    """Build live bars on standard error; the field `note` of a task is shown after its counts."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    ]
    if with_time_left:
        columns.append(TimeRemainingColumn(compact=True))
    return Progress(*columns, console=Screen(stderr=True), refresh_per_second=5)
