"""`judge labels` and `judge agreement`: scores of people, and how well judges agree with them."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import examples, next_command
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.judge.agreement import Agreement


_LABELS_EXAMPLES = examples(
    """
  {program} judge labels export support_desk > sheet.csv
  {program} judge labels import sheet.csv --who Ann
  {program} judge agreement
"""
)


@click.group(epilog=_LABELS_EXAMPLES)
def labels() -> None:
    """Score conversations yourself, to measure the judges.

    A sheet has one row per conversation; enter a `score` (0 to 10) in any of them. Labels
    are stored in human_labels.jsonl and never overwritten; the newest of each person counts.
    """


@labels.command("export", epilog=_LABELS_EXAMPLES)
@click.argument("references", metavar="[RUN]...", nargs=-1)
@pass_app
def export_labels(app: AppContext, /, references: tuple[str, ...]) -> int:
    """Print a sheet for some runs or all, with the labels stored so far."""
    from poor_bench.judge.label_csv import labels_to_csv
    from poor_bench.judge.labels import read_labels

    store = app.judgements
    runs = [store.find(reference) for reference in references] if references else store.runs()
    click.echo(labels_to_csv(runs, read_labels(app.data_dir)), nl=False)
    return 0


@labels.command("import", epilog=_LABELS_EXAMPLES)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--who", help="Person who scored, for rows without a name. Default: your user name.")
@pass_app
def import_labels(app: AppContext, /, sheet: Path, who: str | None) -> int:
    """Import the scores of a sheet. If one row is not valid, none is imported."""
    from poor_bench.config.document import UnreadableError, read_text
    from poor_bench.errors import ConfigError
    from poor_bench.judge.label_csv import labels_from_csv
    from poor_bench.judge.labels import add_labels

    try:
        text = read_text(sheet)
    except UnreadableError as error:
        raise ConfigError(f"{sheet}: {error}", hint=error.hint) from error
    read = labels_from_csv(
        text,
        app.judgements.find,
        file=str(sheet),
        who=who or getpass.getuser(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    add_labels(app.data_dir, read)
    click.echo(f"Added {write_count(len(read), 'label')}. Next: {next_command('judge agreement')}")
    return 0


_AGREEMENT_EXAMPLES = examples(
    """
  {program} judge agreement
  {program} judge agreement support_desk --pass-score 6
  {program} judge agreement --agents          overall scores and dimensions instead of cases
"""
)


@click.command(epilog=_AGREEMENT_EXAMPLES)
@click.argument("agent_id", metavar="[AGENT]", required=False)
@click.option(
    "--pass-score",
    "pass_rating",
    type=click.FloatRange(0, 10),
    default=APPROVAL_THRESHOLD,
    help="Lowest score that passes, for Cohen's kappa.",
)
@click.option(
    "--agents", "whole", is_flag=True, help="Compare scores of whole agents instead of cases."
)
@json_option
@pass_app
def agreement(
    app: AppContext, /, agent_id: str | None, pass_rating: float, whole: bool, as_json: bool
) -> int:
    """Show how well each judge agrees with people, and its bias.

    Krippendorff's alpha and weighted kappa: 1 is full agreement, 0 is chance.
    """
    from poor_bench.judge.agreement import measure_agreement
    from poor_bench.judge.labels import LabelScope, collect_judged_items, read_labels

    runs = app.judgements.runs(agent_id)
    scope = LabelScope.AGENTS if whole else LabelScope.CASES
    items = collect_judged_items(runs, read_labels(app.data_dir), scope)
    measured = {judge: measure_agreement(both, pass_rating) for judge, both in items.items()}
    if as_json:
        print_json({"judges": {judge: asdict(figures) for judge, figures in measured.items()}})
    elif not any(figures.n for figures in measured.values()):
        step = next_command("judge labels export > sheet.csv")
        click.echo(f"No labels yet. Next: {step}")
    else:
        _print_agreement(measured)
    return 0


def _print_agreement(measured: dict[str, Agreement]) -> None:
    from poor_bench.judge.report_text import estimate_text, figure_text, list_biases, trust_text

    rows = [
        ["labelled", *(str(figures.n) for figures in measured.values())],
        ["Krippendorff's alpha", *(figure_text(item.alpha) for item in measured.values())],
        ["  people alone", *(figure_text(item.human_alpha) for item in measured.values())],
        ["weighted kappa", *(figure_text(item.weighted_kappa) for item in measured.values())],
        ["Cohen's kappa", *(figure_text(item.kappa) for item in measured.values())],
        ["Spearman", *(estimate_text(item.spearman) for item in measured.values())],
        ["Pearson", *(estimate_text(item.pearson) for item in measured.values())],
        ["judge minus people", *(estimate_text(item.bias) for item in measured.values())],
        ["length", *(estimate_text(item.length_correlation) for item in measured.values())],
        ["length, beyond people", *(estimate_text(item.length_bias) for item in measured.values())],
    ]
    print_table(dict(zip(["", *measured], row, strict=True)) for row in rows)
    for judge, figures in measured.items():
        leanings = "".join(f"; {leaning}" for leaning in list_biases(figures))
        say(f"{judge}: {trust_text(figures)}{leanings}")
