"""`judge labels` and `judge agreement`: scores of people, and how well judges agree with them."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import count_option
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.config.document import read_given_text
from poor_bench.errors import ConfigError
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.judge.agreement import Agreement, CorrectedScore


_LABELS_EXAMPLES = write_examples(
    """
  {program} judge labels next --count 20 > sheet.csv
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
    from poor_bench.judge.labels import labels_to_csv
    from poor_bench.labels.storage import read_labels

    store = app.judgements
    runs = [store.find(reference) for reference in references] if references else store.runs()
    click.echo(labels_to_csv(runs, read_labels(app.data_dir)), nl=False)
    return 0


@labels.command("next", epilog=_LABELS_EXAMPLES)
@click.argument("agent_id", metavar="[AGENT]", required=False)
@count_option("--count", most=1000, default=10, hint="Number of answers.")
@pass_app
def next_labels(app: AppContext, /, agent_id: str | None, count: int) -> int:
    """Print a sheet of the answers to label next.

    They are drawn at random, more often where the judges' scores differ. The column `weight` makes
    up for that, so that corrected scores stay unbiased: do not change it.
    """
    from poor_bench.judge.corrected import choose_next
    from poor_bench.judge.labels import next_to_csv
    from poor_bench.labels.storage import read_labels

    runs = app.judgements.runs(agent_id)
    chosen = choose_next(runs, read_labels(app.data_dir), count)
    if not chosen:
        raise ConfigError("every judged answer has a label, or nothing was judged yet")
    click.echo(next_to_csv(chosen, {run.run_id: run for run in runs}.__getitem__), nl=False)
    return 0


@labels.command("import", epilog=_LABELS_EXAMPLES)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--who", help="Person who scored, for rows without a name. Default: your user name.")
@pass_app
def import_labels(app: AppContext, /, sheet: Path, who: str | None) -> int:
    """Import the scores of a sheet. If one row is not valid, none is imported.

    Scores that are stored already are not added again.
    """
    from poor_bench.judge.labels import labels_from_csv, list_new_labels
    from poor_bench.labels.storage import add_labels, read_labels

    read = labels_from_csv(
        read_given_text(sheet),
        app.judgements.find,
        file=str(sheet),
        who=who or getpass.getuser(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    new = list_new_labels(read, read_labels(app.data_dir))
    add_labels(app.data_dir, new)
    n_known = len(read) - len(new)
    known = f"; {n_known} known already" if n_known else ""
    added = f"Added {write_count(len(new), 'label')}{known}"
    click.echo(f"{added}. Next: {next_command('judge agreement')}")
    return 0


_AGREEMENT_EXAMPLES = write_examples(
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
    """Show how well each judge agrees with people, its bias, and corrected scores.

    Ratings of answers to tests count, too, where an evaluator asked the judge.
    Kappa: 1 is full agreement, 0 is chance. A corrected score is the mean that people would give
    all answers of a model, from the judge's scores and the labels of some.
    """
    from poor_bench.judge.agreement import measure_agreement
    from poor_bench.judge.corrected import correct_scores
    from poor_bench.judge.labels import LabelScope, collect_judged_items
    from poor_bench.judge.rated_answers import add_judged_answers
    from poor_bench.labels.ratings import group_ratings
    from poor_bench.labels.storage import read_labels

    runs, known = app.judgements.runs(agent_id), read_labels(app.data_dir)
    scope = LabelScope.AGENTS if whole else LabelScope.CASES
    items = collect_judged_items(runs, known, scope)
    ratings = {} if whole or agent_id else group_ratings(known)
    if ratings:
        items = add_judged_answers(items, ratings, app.store.table())
    measured = {judge: measure_agreement(both, pass_rating) for judge, both in items.items()}
    corrected = () if whole else correct_scores(runs, known)
    if as_json:
        print_json({"judges": measured, "corrected_scores": corrected})
    elif not any(figures.n for figures in measured.values()):
        step = next_command("judge labels next > sheet.csv")
        click.echo(f"No labels yet. Next: {step}")
    else:
        _print_agreement(measured)
        _print_corrected(corrected)
    return 0


def _print_agreement(measured: dict[str, Agreement]) -> None:
    from poor_bench.judge.report_text import list_biases, trust_text, write_agreement_figures

    columns = {judge: write_agreement_figures(figures) for judge, figures in measured.items()}
    print_table(
        {"": label, **{judge: texts[label] for judge, texts in columns.items()}}
        for label in next(iter(columns.values()))
    )
    for judge, figures in measured.items():
        leanings = "".join(f"; {leaning}" for leaning in list_biases(figures))
        say(f"{judge}: {trust_text(figures)}{leanings}")


def _print_corrected(scores: Sequence[CorrectedScore]) -> None:
    from poor_bench.judge.report_text import write_corrected_figures

    known = [score for score in scores if score.corrected is not None]
    if known:
        click.echo("\nMean scores that people would give, from the judge's scores and the labels:")
        print_table(write_corrected_figures(score) for score in known)
    else:
        step = next_command("judge labels next > sheet.csv")
        click.echo(f"For corrected scores, label 5 answers of a model or more: {step}")
