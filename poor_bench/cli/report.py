"""`report`: the scores as a table, CSV, JSON, JUnit XML, Markdown or one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app, write_next_step
from poor_bench.cli.options import (
    baseline_option,
    comparison_options,
    list_endings,
    read_allowed_changes,
    read_amount,
    read_selection,
    selection_options,
)
from poor_bench.cli.output import print_table, say
from poor_bench.cli.process import prepare_to_look
from poor_bench.command_line import quote_word, write_examples
from poor_bench.metrics.trust import write_missing
from poor_bench.reports.exports import EXPORTS, format_of_ending
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summary import FloorRow, GroupBy, Summary

if TYPE_CHECKING:
    from poor_bench.reports.report_data import ReportData
    from poor_bench.statistics.purchase import PurchaseBudget


_EPILOG = write_examples(
    """
  {program} report
  {program} report --by class
  {program} report --format times           time, tokens, memory and cost
  {program} report --stratify classes       all classes weigh the same
  {program} report --uncertainty            where the confidence intervals come from
  {program} report --budget 5.00            what to buy next for 5 dollars; or '200 calls', '30 min'
  {program} report --output report.html --compare previous
  {program} report --format csv --llm 'ollama:*' > results.csv
"""
)
_GROUPS = {"llm": "llm", "class": "llm_class", "level": "llm_level", "both": "llm_class_level"}
_TABLE, _TIMES = "table", "times"


@click.command(epilog=_EPILOG)
@selection_options
@click.option("--by", type=click.Choice(list(_GROUPS)), default="llm", help="Rows of the table.")
@click.option(
    "--stratify",
    type=click.Choice(["tests", "classes"]),
    help="Add a score for exactly these classes, weighted by their tests or all equally.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([_TABLE, _TIMES, *EXPORTS]),
    help="Format; by default a table, or that of the --output file.",
)
@click.option("--json", "form", flag_value="json", help="Same as --format json.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report to this file.",
)
@click.option(
    "--uncertainty",
    "shows_uncertainty",
    is_flag=True,
    help="Show how much of each confidence interval comes from tests, trials and the judge.",
)
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="Show which tests, trials or judgements narrow the intervals most for this: "
    "dollars, `200 calls` or `30 min` per model.",
)
@click.option(
    "--test-cost",
    type=click.FloatRange(0),
    default=0.0,
    help="Cost of writing one new test, in the unit of --budget.",
)
@baseline_option
@comparison_options
@pass_app
def command(
    app: AppContext,
    /,
    by: str,
    stratify: str | None,
    form: str | None,
    output: Path | None,
    base: str | None,
    pass_score: float,
    allow: tuple[str, ...],
    **options: Any,
) -> int:
    """Show or export the scores.

    CSV and JUnit XML have one row per result.
    """
    from poor_bench.report_generator import ReportGenerator

    prepare_to_look()
    form = form or _choose_form(output)
    generator = ReportGenerator(
        app.config,
        read_selection(options),
        base=base or "",
        allowed=read_allowed_changes(allow),
        pass_score=pass_score,
        reads_columns=form in {_TABLE, _TIMES, "csv", "json"},
        shows_uncertainty=options["shows_uncertainty"] or options["budget"] is not None,
        budget=_read_budget(options),
    )
    if form == _TABLE:
        print_report(generator.data, _GROUPS[by], stratify)
        return 0
    if form == _TIMES:
        print_times(generator.data)
        return 0
    pieces = generator.render_pieces(form, _GROUPS[by])
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
    else:
        generator.write(output, pieces)
        click.echo(f"Wrote {output}")
    return 0


def _read_budget(options: dict[str, Any]) -> PurchaseBudget | None:
    if options["budget"] is None:
        return None
    from poor_bench.statistics.purchase import PurchaseBudget

    amount, unit = read_amount(options["budget"], "--budget")
    return PurchaseBudget(amount, unit, options["test_cost"])


def _choose_form(output: Path | None) -> str:
    if output is None:
        return _TABLE
    form = format_of_ending(output.suffix)
    if form is None:
        endings = [ending for export in EXPORTS.values() for ending in export.endings]
        raise click.BadParameter(
            f"{output}: the name must end in {list_endings(endings)}; "
            "or name the format with --format",
            param_hint="'--output'",
        )
    return form


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
    from poor_bench.reports.findings import list_findings

    if not data.results:
        print_no_results(data, "report")
        return
    _print_scores(data, grouping, stratify)
    _print_reliabilities(data)
    for sentence in list_findings(data, str, with_cause=len(data.results) <= _QUICKLY_READ):
        say(sentence)
    base = data.base
    if base is not None:
        from poor_bench.cli.compare import print_comparison

        click.echo()
        names = {llm_id: data.name(llm_id) for llm_id in (*data.llms, *data.places)}
        print_comparison(base.before, base.after, base.llms, names)


def print_no_results(data: ReportData, words: str) -> None:
    """Say why a report is empty, and what to do.

    Args:
        data: A report without results.
        words: The running command, which takes `--llm`.
    """
    from poor_bench.reports.findings import list_findings

    for sentence in list_findings(data, str):
        say(sentence)
    if data.disabled_llms:
        click.echo(f"Next: {write_next_step(f'{words} --llm {quote_word(data.disabled_llms[0])}')}")
    else:
        click.echo(f"No results yet. Next: {write_next_step('run')}")


def print_times(data: ReportData) -> None:
    """Print where the time of each LLM goes, its tokens, memory and cost."""
    if not data.results:
        print_no_results(data, "report")
        return
    from poor_bench.comparison.side_rows import describe_machine, find_machine_problem

    names = {llm_id: data.name(llm_id) for llm_id in data.places}
    summaries = data.summaries()
    figures = [metric for metric in metrics.USAGE if metric.is_shown(summaries)]
    print_table(
        (
            _build_group_row(summary, names) | _build_metric_cells(summary, figures)
            for summary in summaries
        ),
        hides_empty=True,
    )
    for machine in sorted({describe_machine(machine) for machine in data.machines}):
        say(f"Measured on {machine}")
    if len(data.machines) > 1 and find_machine_problem(data.machines):
        say(find_machine_problem(data.machines))


def _print_scores(data: ReportData, grouping: str, stratify: str | None) -> None:
    from poor_bench.reports.findings import name_ties

    by = GroupBy(grouping)
    names = {llm_id: data.name(llm_id) for llm_id in data.places}
    is_whole = by is GroupBy.LLM
    ties = name_ties(data) if is_whole else {}
    stratified = (
        data.estimate_stratified(classes_weigh_alike=stratify == "classes")
        if stratify and is_whole
        else {}
    )
    warnings = {llm_id: data.warning(llm_id) for llm_id in data.places} if is_whole else {}
    floor = data.floor if is_whole else ()
    print_summaries(data.summaries(by), names, ties, stratified, warnings, floor)
    if floor:
        click.echo("Grey: what answers score that need no model (`tests cheat`).")
    if ties:
        click.echo("Tied: models that share a letter do not differ significantly.")


def _print_reliabilities(data: ReportData) -> None:
    """Print what repeated trials say, where there are any."""
    if not data.reliabilities:
        return
    k = data.reliabilities[0].k
    click.echo(f"Tests with {k} trials: share where one passes, all pass, two differ")
    print_table(
        {
            "Model": data.name(row.llm_id),
            ">Tests": str(row.flip_rate.n),
            f">pass@{k}": metrics.score_text(row.pass_at_k.value),
            f">pass^{k}": metrics.score_text(row.pass_hat_k.value),
            ">Flip rate": metrics.score_text(row.flip_rate.value),
        }
        for row in data.reliabilities
    )


_NOBODY: Mapping[str, str] = {}
_NOTHING: Mapping[str, Estimate] = {}


def print_summaries(
    summaries: Sequence[Summary],
    names: Mapping[str, str],
    ties: Mapping[str, str] = _NOBODY,
    stratified: Mapping[str, Estimate] = _NOTHING,
    warnings: Mapping[str, str] = _NOBODY,
    floor: Sequence[FloorRow] = (),
) -> None:
    """Print a row per summary.

    Args:
        summaries: Rows of any grouping, in order.
        names: LLM id to what screens call it.
        ties: LLM id to letters; LLMs that share one cannot be told apart.
        stratified: LLM id to its score with test classes as strata.
        warnings: LLM id to the warning beside its score, such as `48 of 64 tests`.
        floor: What answers score that need no model; grey rows at the end.
    """
    figures = [metric for metric in metrics.LEADERBOARD if metric.is_shown(summaries)]
    cells = [
        _build_group_row(summary, names)
        | {
            ">Score": metrics.SCORE.show(summary, "-"),
            ">95 % CI": metrics.SCORE.show_interval(summary),
            ">Stratified": _format_stratified(stratified.get(summary.group.llm_id)),
            "Tied": ties.get(summary.group.llm_id, ""),
            "Coverage": write_missing(summary, _find_warning(summary, warnings)),
        }
        | _build_metric_cells(summary, figures[1:])
        for summary in summaries
    ]
    grey = [
        dict.fromkeys(cells[0], "") | {"Model": row.name, ">Score": metrics.score_text(row.score)}
        for row in floor
        if cells
    ]
    print_table([*cells, *grey], hides_empty=True, n_dim=len(grey))


def _find_warning(summary: Summary, warnings: Mapping[str, str]) -> str:
    group = summary.group
    is_whole = group.class_id is None and group.level is None
    return warnings.get(group.llm_id, "") if is_whole else ""


def _build_group_row(summary: Summary, names: Mapping[str, str]) -> dict[str, str]:
    group = summary.group
    return {
        "Model": names.get(group.llm_id, group.llm_id),
        "Class": group.class_id or "",
        ">Level": str(group.level or ""),
    }


def _build_metric_cells(summary: Summary, figures: Iterable[metrics.Metric]) -> dict[str, str]:
    return {f">{metric.label}": metric.show(summary) for metric in figures}


def _format_stratified(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    interval = metrics.interval_text(estimate.low, estimate.high)
    return f"{metrics.score_text(estimate.value)} ({interval})"


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """Build the JSON output of a summary; intervals as low and high."""
    record = asdict(summary)
    return {**record.pop("group"), **record, "scored_share": summary.scored_share}
