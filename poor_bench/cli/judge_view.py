"""Print a judged run, or write it as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.output import Column, console, harmless, plain_table, print_json
from poor_bench.judge.report.wording import (
    notes_on,
    run_cost_text,
    spread_text,
    verdict_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.judge.history.summary import CaseSummary, RunSummary

_MOST_TEXTS = 5


def show_summary(summary: RunSummary, *, as_json: bool, html: Path | None) -> None:
    """Print a run, and write its report if a file is given.

    Raises:
        ConfigError: If the file cannot be written.
    """
    if html is not None:
        write_html([summary], html)
    if as_json:
        from poor_bench.judge.report.as_json import run_to_json

        print_json(run_to_json(summary, with_parts=True))
        return
    print_summary(summary)
    if html is not None:
        click.echo(f"Report: {html}")


def write_html(summaries: Sequence[RunSummary], path: Path) -> None:
    """Write the report of some runs.

    Raises:
        ConfigError: If the file cannot be written.
    """
    from poor_bench.config.atomic_write import write_atomically
    from poor_bench.judge.report.html import runs_to_html

    write_atomically(path, runs_to_html(summaries, datetime.now(UTC).isoformat()))


def print_summary(summary: RunSummary) -> None:
    """Print scores, feedback and verdict of a run."""
    header = summary.run.header
    click.echo(harmless(f"{header.agent_name} ({header.llm_id}), run {header.run_id}"))
    if summary.panel.scores:
        console().print(_dimension_table(summary))
    for case in summary.cases:
        for line in _case_lines(case):
            click.echo(harmless(line))
    for line in _overall_lines(summary):
        click.echo(harmless(line))
    click.echo()
    for note in notes_on(summary):
        click.echo(harmless(note))
    cost = run_cost_text(summary.run)
    click.echo(harmless(verdict_text(summary) + (f"  ({cost})" if cost else "")))


def _dimension_table(summary: RunSummary) -> object:
    panel = summary.panel
    has_several = len(panel.voters) > 1
    columns: list[Column] = ["Dimension", ("Weight", "right"), ("Score", "right")]
    columns += [member.judge if has_several else "Spread" for member in panel.voters]
    rows = []
    for name, score in panel.scores.items():
        weight = summary.run.header.weights.get(name, 0.0)
        row = [name, f"{weight:g} %", f"{score:.2f}"]
        for member in panel.voters:
            spread = member.dimensions[name]
            mean = f"{spread.mean:.2f}  " if has_several else ""
            row.append(f"{mean}{spread_text(spread)}".rstrip())
        rows.append(row)
    return plain_table(columns, rows)


def _case_lines(case: CaseSummary) -> Iterator[str]:
    talk = case.conversation
    score = "" if case.score is None else f"  {case.score:.2f}"
    yield f"{talk.case_id}{score}{'  failed' if talk.passed is False else ''}"
    for rule in talk.broken_rules:
        yield f"  broken rule: {rule}"
    for item in case.feedback:
        yield f"  {item.score:4.1f} {item.judge}: {' '.join(item.text.split())}"


def _overall_lines(summary: RunSummary) -> Iterator[str]:
    for heading in ("weaknesses", "recommendations"):
        texts = [text for item in summary.run.usable_judgements for text in getattr(item, heading)]
        unique = list(dict.fromkeys(" ".join(text.split()) for text in texts))
        if unique:
            yield f"{heading}:"
        yield from (f"  - {text}" for text in unique[:_MOST_TEXTS])
