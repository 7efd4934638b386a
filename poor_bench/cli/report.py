"""`report`: the scores as a table, CSV, JSON or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console
from poor_bench.cli.selection_options import selection_from, selection_options

_EPILOG = """\b
Examples:
  python main.py report
  python main.py report --by class
  python main.py report --format md --output report.md
  python main.py report --format csv --llm 'ollama:*' > results.csv
"""
_GROUPS = {"llm": "llm", "class": "llm_class", "level": "llm_level", "both": "llm_class_level"}


@click.command(epilog=_EPILOG)
@selection_options
@click.option(
    "--by",
    type=click.Choice(list(_GROUPS)),
    default="llm",
    show_default=True,
    help="What a row of the table stands for.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "md"]),
    default="table",
    show_default=True,
    help="CSV has a row for every result.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@pass_app
def command(
    app: AppContext, /, by: str, form: str, as_json: bool, output: Path | None, **filters: Any
) -> int:
    """Show or export the scores."""
    from poor_bench.report_generator import ReportGenerator

    generator = ReportGenerator(app.config, selection_from(filters))
    grouping = _GROUPS[by]
    if form == "table" and not as_json and output is None:
        return _print_table(generator, grouping)
    form = "json" if as_json else ("md" if form == "table" else form)
    text = generator.render(form, grouping)
    if output is None:
        click.echo(text, nl=False)
    else:
        generator.write(output, text)
        click.echo(f"Wrote {output}")
    return 0


def _print_table(generator: Any, grouping: str) -> int:
    from poor_bench.cli.summary_table import summary_table

    summaries = generator.summaries(grouping)
    if not summaries:
        click.echo("There are no results yet. Next: python main.py run")
        return 0
    console().print(summary_table(summaries, generator.names))
    return 0
