"""`judge show` and `judge report`: stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import harmless, json_option
from poor_bench.cli.output_file import HTML_FILE
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.judge.history.summary import RunSummary

_EPILOG = examples(
    """
  {program} judge show last
  {program} judge show support_desk          newest run of an agent
  {program} judge show 20261122T0315 --turns
"""
)
_REPORT_EPILOG = examples(
    """
  {program} judge report last --html report.html
  {program} judge report sales_qualification support_desk --html both.html
"""
)


@click.command(epilog=_EPILOG)
@click.argument("reference", metavar="RUN", default="last")
@click.option("--turns", is_flag=True, help="Also print the conversations.")
@json_option
@pass_app
def show(app: AppContext, /, reference: str, turns: bool, as_json: bool) -> int:
    """Show a run.

    RUN is `last`, an agent, or the start of a run's id.
    """
    from poor_bench.cli.judge_view import show_summary

    summary = find_summary(app, reference)
    if turns and not as_json:
        _print_turns(summary)
    show_summary(summary, as_json=as_json, html=None)
    return 0


@click.command(epilog=_REPORT_EPILOG)
@click.argument("references", metavar="RUN...", nargs=-1, required=True)
@click.option("--html", type=HTML_FILE, required=True, help="Write the report to this file.")
@pass_app
def report(app: AppContext, /, references: tuple[str, ...], html: Path) -> int:
    """Write one or several runs to a self-contained HTML file."""
    from poor_bench.cli.judge_view import write_html

    write_html([find_summary(app, reference) for reference in references], html)
    click.echo(f"Wrote {html}")
    return 0


def find_summary(app: AppContext, reference: str) -> RunSummary:
    """Summarise the run that a reference names.

    Raises:
        ConfigError: If it matches no run, or several.
    """
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.history.summary import summarise_run

    return summarise_run(JudgementStore(app.data_dir).find(reference))


def _print_turns(summary: RunSummary) -> None:
    for talk in summary.run.conversations:
        click.echo(harmless(f"--- {talk.case_id}"))
        for turn in talk.turns:
            click.echo(harmless(f"[{turn.speaker}] {turn.text}"))
    click.echo()
