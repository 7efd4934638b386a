"""Progress of a judged run: a bar on a terminal, plain lines when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import console, harmless
from poor_bench.judge.agents.events import AgentEvent, ModelLoading
from poor_bench.judge.report.event_text import event_text

if TYPE_CHECKING:
    from rich.progress import Progress

    from poor_bench.judge.agents.plan import JudgePlan

Listen = Callable[[AgentEvent], None]


@contextmanager
def judge_progress(plan: JudgePlan, *, quiet: bool) -> Iterator[Listen]:
    """Show the events of a run while it lasts."""
    if quiet:
        yield lambda _event: None
    elif sys.stderr.isatty():
        with _bar() as progress:
            task = progress.add_task(harmless(plan.agent.name), total=plan.n_steps, note="")

            def show(event: AgentEvent) -> None:
                is_step = not isinstance(event, ModelLoading)
                progress.update(task, advance=int(is_step), note=harmless(event_text(event)))

            yield show
    else:
        yield lambda event: click.echo(harmless(event_text(event)), err=True)


def _bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=console(stderr=True),
    )
