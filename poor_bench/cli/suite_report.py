"""`suite report`: show or export a stored run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option
from poor_bench.cli.suite_output import report_file_options, show_report, write_report_files
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalSuiteResult
    from poor_bench.evaluation.stored_run import StoredRun

_EPILOG = examples(
    """
  {program} suite report                       the last run
  {program} suite report 20261122T0245 --html report.html
  {program} suite report last --junit report.xml --output report.json
  {program} suite report report.json --html report.html
"""
)


@click.command(epilog=_EPILOG)
@click.argument("run", default="last")
@report_file_options
@json_option
@pass_app
def report(app: AppContext, /, run: str, as_json: bool, **files: Path | None) -> int:
    """Show or export a RUN: `last`, the start of its id, its folder, or a report as JSON.

    Stored trials are judged by the cases of their run. Running and interrupted runs are shown as
    far as they are stored. A report from `--output` does not contain steps or screenshots.
    """
    stored, result = _open(app, Path(run), run)
    show_report(result, as_json=as_json)
    write_report_files(result, stored, files)
    return 0


def _open(app: AppContext, path: Path, reference: str) -> tuple[StoredRun | None, EvalSuiteResult]:
    from poor_bench.evaluation.stored_run import find_run, open_run
    from poor_bench.evaluation.written_report import read_report

    if path.is_file():
        return None, read_report(path)
    stored = open_run(path) if path.exists() else find_run(app.data_dir, reference)
    return stored, stored.report()
