"""`judge labels`: what people think of judged conversations, from and to CSV."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.command_line import examples, next_command
from poor_bench.wording import counted

_EPILOG = examples(
    """
  {program} judge labels export support_desk > sheet.csv
  {program} judge labels import sheet.csv --who Ann
  {program} judge agreement
"""
)


@click.group(epilog=_EPILOG)
def labels() -> None:
    """Score conversations yourself: the judges are measured by it.

    A sheet has a row for every conversation; fill in `score` (0 to 10) where you like. Labels are
    kept in human_labels.jsonl and never overwritten: a newer one of the same person counts.
    """


@labels.command("export", epilog=_EPILOG)
@click.argument("references", metavar="[RUN]...", nargs=-1)
@pass_app
def export_labels(app: AppContext, /, references: tuple[str, ...]) -> int:
    """Print a sheet for some runs, or for all: rows to fill in, and labels that there are."""
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.labels.label_csv import labels_to_csv
    from poor_bench.judge.labels.label_file import read_labels

    store = JudgementStore(app.data_dir)
    runs = [store.find(reference) for reference in references] if references else store.runs()
    click.echo(labels_to_csv(runs, read_labels(app.data_dir)), nl=False)
    return 0


@labels.command("import", epilog=_EPILOG)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--who", help="The person, where a row names none; your user name by default.")
@pass_app
def import_labels(app: AppContext, /, sheet: Path, who: str | None) -> int:
    """Take the scores of a sheet; all of them, or none where a row cannot be used."""
    from poor_bench.config.document import UnreadableError, read_text
    from poor_bench.errors import ConfigError
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.labels.label_csv import labels_from_csv
    from poor_bench.judge.labels.label_file import add_labels

    try:
        text = read_text(sheet)
    except UnreadableError as error:
        raise ConfigError(f"{sheet}: {error}", hint=error.hint) from error
    read = labels_from_csv(
        text,
        JudgementStore(app.data_dir).find,
        file=str(sheet),
        who=who or getpass.getuser(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    add_labels(app.data_dir, read)
    click.echo(f"Added {counted(len(read), 'label')}. Next: {next_command('judge agreement')}")
    return 0
