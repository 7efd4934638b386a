"""`ratings`: people's scores of answers, and how well evaluators agree with them."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import pass_score_option, read_selection, selection_options
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.models.result import Result


_EPILOG = write_examples(
    """
  {program} ratings                            agreement of evaluators with people
  {program} ratings export > ratings.csv       the newest rating of each person
  {program} ratings export --unrated --class code > sheet.csv
  {program} ratings export --format jsonl > ratings.jsonl
  {program} ratings import sheet.csv --who Ann
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Rate answers yourself, to check the evaluators.

    A rating is a score from 0 to 1, a comment and tags. Rate on the dashboard, or in a sheet.
    Ratings never change an evaluator's score. They are stored in human_labels.jsonl and never
    overwritten; the newest of each person counts, for the rated answer only.
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(agreement, pass_score=1.0, as_json=False) or 0)
    return 0


@command.command("export", epilog=_EPILOG)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl"]),
    default="csv",
    help="csv: a sheet; jsonl: all ratings with their history.",
)
@click.option("--unrated", is_flag=True, help="Add a row to fill in for each unrated answer.")
@selection_options
@pass_app
def export_ratings(app: AppContext, /, form: str, unrated: bool, **filters: Any) -> int:
    """Print ratings. Filters limit the answers of a CSV sheet."""
    from poor_bench.labels.ratings import ratings_to_csv, ratings_to_jsonl
    from poor_bench.labels.storage import read_labels

    if form == "jsonl":
        if unrated or any(filters.values()):
            raise click.UsageError("--format jsonl exports all ratings: remove the other options")
        click.echo(ratings_to_jsonl(read_labels(app.data_dir)), nl=False)
        return 0
    from poor_bench.report_generator import ReportGenerator

    ratings = app.config.load_ratings()
    results = list(ReportGenerator(app.config, read_selection(filters)).results())
    if any(filters.values()):
        kept = {result.answer_id for result in results}
        ratings = {about: given for about, given in ratings.items() if about in kept}
    click.echo(ratings_to_csv(results, ratings, with_unrated=unrated), nl=False)
    return 0


@command.command("import", epilog=_EPILOG)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--who", help="Person who rated, for rows without a name. Default: your user name.")
@pass_app
def import_ratings(app: AppContext, /, sheet: Path, who: str | None) -> int:
    """Import ratings from CSV or JSON lines. If one row is not valid, none is imported.

    A CSV needs the columns llm_id, test_id and score. Known ratings are not added again.
    """
    from poor_bench.config.document import read_given_text
    from poor_bench.labels.ratings import read_ratings
    from poor_bench.labels.storage import merge_labels

    now = datetime.now(UTC).isoformat(timespec="microseconds")
    read = read_ratings(
        read_given_text(sheet),
        _find_result(app),
        file=str(sheet),
        who=who or getpass.getuser(),
        when=now,
    )
    if not read:
        raise ConfigError(f"{sheet} has no ratings", hint="Enter a score, a note or tags in a row.")
    n_new = merge_labels(app.data_dir, read, untimed=now)
    n_known = len(read) - n_new
    known = f", {n_known:,} known already" if n_known else ""
    click.echo(f"Added {write_count(n_new, 'rating')}{known}. Next: {next_command('ratings')}")
    return 0


def _find_result(app: AppContext) -> Callable[[str, str, int], Result | None]:
    from poor_bench.results.table import TrialKey

    table = app.store.table()

    def find(llm_id: str, test_id: str, trial: int) -> Result | None:
        row = table.find(llm_id, TrialKey(test_id, trial, False))
        return None if row is None else next(table.whole([row]))

    return find


@command.command(epilog=_EPILOG)
@pass_score_option
@json_option
@pass_app
def agreement(app: AppContext, /, pass_score: float, as_json: bool) -> int:
    """Show per test class how well evaluators agree with people.

    The same words count once. Kappa: 1 is full agreement, 0 is chance. n/a: too few ratings.
    """
    from poor_bench.judge.rated_answers import (
        measure_evaluators,
        read_rated,
        write_evaluator_figures,
    )

    ratings = app.config.load_ratings()
    rated = list(read_rated(app.store.table(), ratings))
    measured = measure_evaluators(rated, ratings, app.workspace.tests_by_id, pass_score=pass_score)
    stored = {result.answer_id for result in rated}
    n_elsewhere = len(ratings.keys() - stored)
    if as_json:
        classes = [asdict(each) for each in measured]
        print_json({"evaluators": classes, "n_rated": len(stored), "n_not_stored": n_elsewhere})
        return 0
    if not ratings:
        step = next_command("ratings export --unrated > sheet.csv")
        click.echo(f"No ratings yet. Rate answers on the dashboard, or in a sheet: {step}")
    elif measured:
        print_table(_build_heads(write_evaluator_figures(each)) for each in measured)
    else:
        click.echo("No rated answer has a score of an evaluator.")
    if n_elsewhere:
        say(f"{write_count(n_elsewhere, 'rated answer')} not stored here, or replaced since.")
    if any(each.n_disputed for each in measured):
        click.echo(f"Next: {next_command('issues people_disagree')}")
    return 0


def _build_heads(figures: dict[str, str]) -> dict[str, str]:
    return {name if name == "Class" else f">{name}": figure for name, figure in figures.items()}
