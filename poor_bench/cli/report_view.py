"""How a report looks on a console."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poor_bench.cli.next_step import next_step
from poor_bench.cli.output import Column, console, harmless, plain_table

if TYPE_CHECKING:
    from poor_bench.reports.report_data import ReportData

_QUICKLY_READ = 20_000
"""Results whose responses are read in a few seconds."""


def print_report(data: ReportData, grouping: str, stratify: str | None) -> None:
    """Print scores, what repeated trials say, findings, and what changed since the base.

    Args:
        data: The report.
        grouping: What a row of the table stands for, a `GroupBy`.
        stratify: What weighs alike in a score with test classes as strata, `tests` or `classes`;
            None for no such score.
    """
    from poor_bench.cli.comparison_view import print_comparison
    from poor_bench.reports.findings import findings

    if not data.results:
        click.echo(f"No results yet. Next: {next_step('run')}")
        return
    _print_scores(data, grouping, stratify)
    _print_reliabilities(data)
    for sentence in findings(data, str, with_cause=len(data.results) <= _QUICKLY_READ):
        click.echo(harmless(sentence))
    base = data.base
    if base is not None:
        click.echo()
        names = {llm_id: data.name(llm_id) for llm_id in (*data.llms, *data.places)}
        print_comparison(base.before, base.after, base.llms, names)


def print_times(data: ReportData) -> None:
    """Print where the time of each LLM goes, its tokens, memory and cost."""
    from poor_bench.cli.effort_table import effort_table
    from poor_bench.comparison.times import machine_problem, machine_text

    if not data.results:
        click.echo(f"No results yet. Next: {next_step('run')}")
        return
    names = {llm_id: data.name(llm_id) for llm_id in data.places}
    console().print(effort_table(data.efforts, names))
    for machine in sorted({machine_text(machine) for machine in data.machines}):
        click.echo(harmless(f"Measured on {machine}"))
    if len(data.machines) > 1 and machine_problem(data.machines):
        click.echo(harmless(machine_problem(data.machines)))


def _print_scores(data: ReportData, grouping: str, stratify: str | None) -> None:
    from poor_bench.cli.summary_table import summary_table
    from poor_bench.reports.findings import tie_letters
    from poor_bench.statistics.summary import GroupBy

    by = GroupBy(grouping)
    names = {llm_id: data.name(llm_id) for llm_id in data.places}
    is_whole = by is GroupBy.LLM
    ties = tie_letters(data) if is_whole else {}
    stratified = (
        data.stratified(classes_weigh_alike=stratify == "classes") if stratify and is_whole else {}
    )
    coverage = data.coverage if is_whole else {}
    console().print(summary_table(data.summaries(by), names, ties, stratified, coverage))
    if ties:
        click.echo("Tied: models that share a letter do not differ significantly.")


def _print_reliabilities(data: ReportData) -> None:
    """Print what repeated trials say, where there are any."""
    if not data.reliabilities:
        return
    k = data.reliabilities[0].k
    figures = ("Tests", f"pass@{k}", f"pass^{k}", "Flip rate")
    columns: list[Column] = ["Model", *((name, "right") for name in figures)]
    cells = [
        [
            data.name(row.llm_id),
            str(row.flip_rate.n),
            *(f"{figure.value:.3f}" for figure in (row.pass_at_k, row.pass_hat_k, row.flip_rate)),
        ]
        for row in data.reliabilities
    ]
    click.echo(f"Tests with {k} trials: share where one passes, all pass, two differ")
    console().print(plain_table(columns, cells))
