"""Show prompt tuning: progress, candidates, difference and significance test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import Column, console, harmless, plain_table
from poor_bench.command_line import next_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.tuning.prompt.report import PromptReport
    from poor_bench.tuning.prompt.split import Split
    from poor_bench.tuning.prompt.task import PromptProgress, PromptTask

_SHOWN_LINE = 70
_LEAST_LINES = 10


@contextmanager
def open_view(
    task: PromptTask, split: Split, *, quiet: bool
) -> Iterator[Callable[[PromptProgress], None]]:
    """Print the plan, then show progress as the output allows."""
    if quiet:
        yield lambda _progress: None
        return
    n_calls = task.limits.n_calls
    click.echo(
        f"Tuning the {harmless(task.subject.name)} for {harmless(task.llm.id)}: "
        f"{counted(len(task.subject.cases), 'test')}, "
        f"at most {n_calls} calls{_estimate(task)}; {_who(task)}.",
        err=True,
    )
    click.echo(_parts_text(split), err=True)
    if sys.stderr.isatty():
        with _bar(n_calls) as tell:
            yield tell
    else:
        yield _lines(n_calls)


def print_report(report: PromptReport) -> None:
    """Print the result and the next step."""
    from poor_bench.tuning.prompt.split import kept_split

    columns: list[Column] = ["Prompt", ("Validation", "right"), "From", "By", "Text"]
    rows = [
        [
            "current" if candidate is report.end.base else candidate.key,
            f"{candidate.score:.3f}",
            ", ".join(_parent_name(key, report) for key in candidate.parents),
            candidate.made_by,
            _beginning(candidate.text),
        ]
        for candidate in report.end.candidates
    ]
    if rows:
        console().print(plain_table(columns, rows))
    if report.diff:
        click.echo(_coloured(report.diff))
        click.echo("")
    click.echo(_parts_text(kept_split(report.header)))
    click.echo(_ending(report))
    if report.proof is not None:
        click.echo(report.proof.sentence)
    click.echo(f"Spent: {counted(report.n_calls, 'call')}{_money(report.cost_usd)}.")
    click.echo(_next_step(report))


def _parts_text(split: Split) -> str:
    """Describe the split of the tests, and warn if it is too small."""
    from poor_bench.tuning.prompt.proof import LEAST_TO_PROVE

    n_held_out = len(split.held_out)
    text = (
        f"Tests: {len(split.train)} training, {len(split.validation)} validation, "
        f"{n_held_out} held out for the final test"
    )
    if n_held_out >= LEAST_TO_PROVE:
        return f"{text}."
    return (
        f"{text}: too few for a significant gain of any size. Use 40 tests or more, so that at "
        f"least {LEAST_TO_PROVE} are held out."
    )


def _who(task: PromptTask) -> str:
    from poor_bench.tuning.prompt.ideas import IdeaSource

    writer = f"{harmless(task.reflection_llm.id)} writes prompts"
    return {
        IdeaSource.WRITER: writer,
        IdeaSource.EDITS: "rules edit prompts",
        IdeaSource.BOTH: f"{writer}, in turn with rules",
    }[task.ideas]


def _estimate(task: PromptTask) -> str:
    subject = task.subject
    n_attempts = (task.limits.n_calls or 0) / subject.n_calls_per_case
    cost_usd = n_attempts * subject.estimated_cost_usd()
    return f" (about{_money(cost_usd).removeprefix(',')})" if cost_usd else ""


def _next_step(report: PromptReport) -> str:
    if report.accepted:
        return f"Written: prompt {report.accepted}."
    go_on = _way_on(report)
    if report.improved is not None:
        is_proven = report.proof is not None and report.proof.is_proven
        way = "Next" if is_proven else "To accept it anyway"
        accept = next_command(f"tune accept {report.run_id}")
        step = f"Nothing is written yet. {way}: {accept}"
        return f"{step}\n{go_on}" if go_on else step
    return go_on or "Nothing is written; the current prompt stays."


def _way_on(report: PromptReport) -> str:
    """Describe how to continue the search; empty if it is finished."""
    from poor_bench.tuning.stopping import StopReason

    reason = report.end.reason
    if report.proof is not None or not reason.can_go_on:
        return ""
    more = {
        StopReason.BUDGET: " and a larger --budget-calls",
        StopReason.COST: " and a larger --max-cost",
    }
    return f"To continue, add --resume {report.run_id}{more.get(reason, '')}"


def _ending(report: PromptReport) -> str:
    from poor_bench.tuning.stopping import StopReason

    words = {
        StopReason.THRESHOLD: "The target score is reached.",
        StopReason.NO_GAIN: "Stopped: no better prompt in the last rounds.",
        StopReason.BUDGET: "Stopped: the call budget is used up.",
        StopReason.COST: "Stopped: the next step would exceed --max-cost.",
        StopReason.LLM_FAILED: "Stopped: a model could not be reached.",
        StopReason.CANCELLED: "Stopped; results so far are stored.",
    }
    ending = words.get(report.end.reason, "")
    return f"{ending} {harmless(report.end.message)}".strip()


def _parent_name(key: str, report: PromptReport) -> str:
    base = report.end.base
    return "current" if base is not None and key == base.key else key


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_LINE else f"{line[: _SHOWN_LINE - 1]}…"


def _coloured(diff: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = harmless(diff).split("\n")
    return "\n".join(click.style(line, fg=colours.get(line[:1])) for line in lines)


def _money(cost_usd: float) -> str:
    from poor_bench.reports.number_text import cost_text

    return f", {cost_text(cost_usd)}" if cost_usd else ""


@contextmanager
def _bar(n_calls: int | None) -> Iterator[Callable[[PromptProgress], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("calls  {task.fields[figures]}", markup=False),
    )
    with Progress(*columns, console=console(stderr=True), refresh_per_second=5) as progress:
        task = progress.add_task("", total=n_calls, figures="")

        def tell(now: PromptProgress) -> None:
            progress.update(task, completed=now.n_calls, figures=_figures(now))

        yield tell


def _lines(n_calls: int | None) -> Callable[[PromptProgress], None]:
    """Build a listener that prints changed figures, and a line per tenth of the calls.

    Args:
        n_calls: Highest number of calls.
    """
    shown: tuple[str, int] | None = None

    def tell(now: PromptProgress) -> None:
        nonlocal shown
        figures = _figures(now)
        tenth = now.n_calls * _LEAST_LINES // n_calls if n_calls else 0
        if (figures, tenth) != shown:
            shown = figures, tenth
            click.echo(f"{counted(now.n_calls, 'call')}  {figures}", err=True)

    return tell


def _figures(now: PromptProgress) -> str:
    figures = _scores(now)
    return f"{figures}, writing a prompt" if now.is_writing else figures


def _scores(now: PromptProgress) -> str:
    if now.base_score is None or now.best_score is None:
        return "testing the current prompt"
    candidates = counted(now.n_candidates, "candidate")
    return f"current {now.base_score:.3f}, best {now.best_score:.3f}, {candidates}"
