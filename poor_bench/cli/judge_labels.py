"""`judge labels`: scores by people, as CSV."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.command_line import examples, next_command
from poor_bench.messages import counted

_EPILOG = examples(
    """
  {program} judge labels export support_desk > sheet.csv
  {program} judge labels import sheet.csv --who Ann
  {program} judge agreement
"""
)


@click.group(epilog=_EPILOG)
def labels() -> None:
    """Score conversations yourself, to measure the judges.

    A sheet has one row per conversation; enter a `score` (0 to 10) in any of them. Labels
    are stored in human_labels.jsonl and never overwritten; the newest of each person counts.
    """


@labels.command("export", epilog=_EPILOG)
@click.argument("references", metavar="[RUN]...", nargs=-1)
@pass_app
def export_labels(app: AppContext, /, references: tuple[str, ...]) -> int:
    """Print a sheet for some runs or all, with the labels stored so far."""
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.labels.label_csv import labels_to_csv
    from poor_bench.judge.labels.label_file import read_labels

    store = JudgementStore(app.data_dir)
    runs = [store.find(reference) for reference in references] if references else store.runs()
    click.echo(labels_to_csv(runs, read_labels(app.data_dir)), nl=False)
    return 0


@labels.command("import", epilog=_EPILOG)
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--who", help="Person who scored, for rows without a name. Default: your user name.")
@pass_app
def import_labels(app: AppContext, /, sheet: Path, who: str | None) -> int:
    """Import the scores of a sheet. If one row is not valid, none is imported."""
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
