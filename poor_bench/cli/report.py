"""`report`: the scores as a table, CSV, JSON, JUnit XML, Markdown or one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from poor_bench.cli.comparison_options import allowed_changes, comparison_options
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output_file import one_of
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.command_line import examples

_EPILOG = examples(
    """
  {program} report
  {program} report --by class
  {program} report --format times           time, tokens, memory and cost
  {program} report --stratify classes       all classes weigh the same
  {program} report --output report.html --compare previous
  {program} report --format csv --llm 'ollama:*' > results.csv
"""
)
_GROUPS = {"llm": "llm", "class": "llm_class", "level": "llm_level", "both": "llm_class_level"}
_TABLE, _TIMES = "table", "times"
_FORM_OF_SUFFIX = {
    ".csv": "csv", ".json": "json", ".xml": "junit", ".md": "md", ".html": "html", ".htm": "html",
}  # fmt: skip


@click.command(epilog=_EPILOG)
@selection_options
@click.option(
    "--by",
    type=click.Choice(list(_GROUPS)),
    default="llm",
    show_default=True,
    help="Rows of the table.",
)
@click.option(
    "--stratify",
    type=click.Choice(["tests", "classes"]),
    help="Add a stratified score: classes weighted by their tests, or all classes equally.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([_TABLE, _TIMES, "csv", "json", "junit", "md", "html"]),
    help="Format; by default a table, or that of the --output file.",
)
@click.option("--json", "form", flag_value="json", help="Same as --format json.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report to this file.",
)
@click.option(
    "--compare",
    "base",
    metavar="BASE",
    help="Baseline: a run, a file or `previous`; see `compare`.",
)
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
    pass_mark: float,
    allow: tuple[str, ...],
    **filters: Any,
) -> int:
    """Show or export the scores.

    CSV and JUnit XML have one row per result.
    """
    from poor_bench.report_generator import ReportGenerator

    form = form or _default_form(output)
    generator = ReportGenerator(
        app.config,
        selection_from(filters),
        base=base or "",
        allowed=allowed_changes(allow),
        pass_score=pass_mark,
    )
    if form == _TABLE:
        from poor_bench.cli.report_view import print_report

        print_report(generator.data, _GROUPS[by], stratify)
        return 0
    if form == _TIMES:
        from poor_bench.cli.report_view import print_times

        print_times(generator.data)
        return 0
    text = generator.render(form, _GROUPS[by])
    if output is None:
        click.echo(text, nl=False)
    else:
        generator.write(output, text)
        click.echo(f"Wrote {output}")
    return 0


def _default_form(output: Path | None) -> str:
    if output is None:
        return _TABLE
    form = _FORM_OF_SUFFIX.get(output.suffix.lower())
    if form is None:
        raise click.BadParameter(
            f"{output}: the name must end in {one_of(tuple(_FORM_OF_SUFFIX))}; "
            "or name the format with --format",
            param_hint="'--output'",
        )
    return form
