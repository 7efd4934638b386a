"""Show a sweep: progress, then the variants by score."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import Column, console, harmless, plain_table
from poor_bench.command_line import next_command
from poor_bench.messages import counted
from poor_bench.runner.events import (
    LLMUnavailable,
    RunEvent,
    RunStarted,
    TrialFinished,
)

if TYPE_CHECKING:
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.tuning.params.report import ParamsReport
    from poor_bench.tuning.params.standing import Standing
    from poor_bench.tuning.params.tune_params import ParamsTask

_LINE_EVERY = 25


@contextmanager
def open_view(
    task: ParamsTask, cost_usd: float, *, quiet: bool
) -> Iterator[Callable[[RunEvent], None]]:
    """Print the plan, then show progress as the output allows."""
    from poor_bench.reports.number_text import cost_text

    if quiet:
        yield lambda _event: None
        return
    axes = " x ".join(axis.name for axis in task.axes)
    click.echo(
        f"Trying {harmless(axes)} with {harmless(task.llm.id)} on "
        f"{counted(len(task.tests), 'test')}, at most {task.limits.n_calls} calls"
        f"{f' (about {cost_text(cost_usd)})' if cost_usd else ''}.",
        err=True,
    )
    if sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        yield _Lines()


def print_report(report: ParamsReport) -> None:
    """Print the variants by score, and the next step."""
    columns: list[Column] = [
        "Variant",
        ("Score", "right"),
        ("95 %", "right"),
        ("Gain", "right"),
        ("Tests", "right"),
        ("Median", "right"),
        ("Tokens", "right"),
        "",
    ]
    console().print(plain_table(columns, [_row(row, report) for row in report.standings]))
    if report.message:
        click.echo(f"Stopped early: {harmless(report.message)}")
    click.echo(harmless(report.verdict))
    spent = counted(report.n_calls, "call")
    click.echo(f"Spent: {spent}. All results are stored: {next_command('report')}")
    click.echo(_next_step(report))


def _row(row: Standing, report: ParamsReport) -> list[str]:
    from poor_bench.reports.number_text import count_text, time_text
    from poor_bench.tuning.params.variants import variant_name

    score = row.score
    return [
        variant_name(row.variant_id, report.base_id),
        f"{score.value:.3f}" if score else "",
        f"{score.low:.2f} to {score.high:.2f}" if score else "",
        _gain_text(row.gain),
        str(score.n) if score else "0",
        time_text(row.median_ms),
        count_text(row.median_tokens),
        _remark(row, report),
    ]


def _remark(row: Standing, report: ParamsReport) -> str:
    if row.variant_id in report.dropped:
        return "dropped"
    remarks = [f"{row.n_failed} failed"] if row.n_failed else []
    remarks += ["frontier"] if row.is_on_frontier else []
    remarks += ["better"] if row.is_better else []
    return ", ".join(remarks)


def _gain_text(gain: Estimate | None) -> str:
    return f"{gain.value:+.3f}" if gain else ""


def _next_step(report: ParamsReport) -> str:
    if report.accepted:
        return f"Added to llms.json: {report.accepted}"
    if report.best is not None:
        way = "Next" if report.best.is_better else "To accept it anyway"
        accept = next_command(f"tune accept {report.run_id}")
        return f"llms.json is unchanged. {way}: {accept}"
    if report.reason.can_go_on:
        return "To continue, run the same command; stored results are reused."
    return "llms.json is unchanged."


@contextmanager
def _bar() -> Iterator[Callable[[RunEvent], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console(stderr=True), refresh_per_second=5) as progress:
        task = progress.add_task("", total=0, note="")

        def tell(event: RunEvent) -> None:
            if isinstance(event, RunStarted):
                total = int(progress.tasks[0].total or 0) + event.n_items
                progress.update(task, total=total, note=counted(len(event.n_by_llm), "variant"))
            elif isinstance(event, TrialFinished):
                progress.advance(task)
            elif isinstance(event, LLMUnavailable):
                progress.console.print(harmless(event.failure.message), markup=False)

        yield tell


class _Lines:
    """A line for each step and each batch of tests."""

    def __init__(self) -> None:
        self._n_done = 0

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, RunStarted):
            variants = counted(len(event.n_by_llm), "variant")
            click.echo(f"{variants}, {counted(event.n_items, 'test')} to run", err=True)
        elif isinstance(event, LLMUnavailable):
            click.echo(harmless(event.failure.message), err=True)
        elif isinstance(event, TrialFinished):
            self._n_done += 1
            if self._n_done % _LINE_EVERY == 0:
                click.echo(f"{self._n_done} completed", err=True)
