"""Progress of a running suite: a bar on a terminal, lines when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import console, harmless
from poor_bench.evaluation.events import StepDone, SuiteEvent, SuiteStarted, TrialFinished
from poor_bench.messages import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from poor_bench.evaluation.models import EvalTrialResult

View = Callable[[SuiteEvent], None]


class LinesView:
    """One line per finished trial."""

    def __init__(self) -> None:
        self._n_trials = 0
        self._n_done = 0

    def __call__(self, event: SuiteEvent) -> None:
        """Show one event."""
        if isinstance(event, SuiteStarted):
            self._n_trials = event.n_trials
        elif isinstance(event, TrialFinished):
            self._n_done += 1
            line = f"{self._n_done}/{self._n_trials}  {_line(event.result)}"
            with suppress(BrokenPipeError):
                click.echo(harmless(line), err=True)


class BarView:
    """A live bar with the current step."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def __call__(self, event: SuiteEvent) -> None:
        """Show one event."""
        if isinstance(event, SuiteStarted):
            self._task = self._progress.add_task(
                harmless(event.suite), total=event.n_trials, now=""
            )
        elif self._task is None:
            return
        elif isinstance(event, StepDone):
            now = harmless(f"{event.case_id}: {event.step.text}").replace("\n", " ")[:60]
            self._progress.update(self._task, now=now)
        elif isinstance(event, TrialFinished):
            from rich.text import Text

            self._progress.console.print(Text(harmless(_line(event.result))))
            self._progress.update(self._task, advance=1, now="")


def _line(trial: EvalTrialResult) -> str:
    name = f"{trial.case_id} (trial {trial.trial})" if trial.trial_index else trial.case_id
    if trial.failure is not None:
        return f"{name}: not run: {trial.failure.message}"
    seconds = trial.duration_ms / 1000
    verdict = "passed" if trial.passed else f"failed: {trial.failed_checks[0]}"
    return f"{name}: {verdict} ({trial.mode}, {counted(trial.actions, 'action')}, {seconds:.1f} s)"


@contextmanager
def open_suite_view(*, quiet: bool) -> Iterator[View]:
    """Open the view that suits the output; a silent one for `--json`."""
    if quiet:
        yield lambda _event: None
    elif sys.stderr.isatty():
        with _progress() as progress:
            yield BarView(progress)
    else:
        yield LinesView()


def _progress() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[now]}", markup=False),
        console=console(stderr=True),
        refresh_per_second=5,
    )
