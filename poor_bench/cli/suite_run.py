"""`suite run`: run the cases of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option
from poor_bench.cli.stop_signals import stop_on_signal
from poor_bench.cli.suite_output import (
    exit_code,
    report_file_options,
    show_report,
    write_report_files,
)
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalSuite

_EPILOG = examples(
    """
  {program} suite run example
  {program} suite run shop.yaml --case 'cart*' --trials 5 --parallel 2
  {program} suite run shop.yaml --llm ollama:qwen3:8b --html report.html --junit report.xml
"""
)


@click.command(epilog=_EPILOG)
@click.argument("file", metavar="FILE|NAME")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case, or a glob.")
@click.option("--trials", type=click.IntRange(1, 1000), help="In place of each case's own number.")
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Trials at once, each with a browser of its own.",
)
@click.option("--llm", "llm_id", metavar="ID", help="The LLM of all cases.")
@report_file_options
@json_option
@pass_app
def run(
    app: AppContext,
    /,
    file: str,
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    trials: int | None,
    parallel: int,
    llm_id: str | None,
    as_json: bool,
    **files: Path | None,
) -> int:
    """Run the cases of a suite FILE, or of a suite that is named.

    Ends with 1 if a case failed, else with 3 if one could not be run. Ctrl-C stops cleanly: what
    is finished is kept, and `suite report` shows it.
    """
    from poor_bench.evaluation.selection import select_cases
    from poor_bench.evaluation.stored_run import find_run
    from poor_bench.evaluation.suite_file import read_suite
    from poor_bench.evaluation.suite_files import find_suite

    suite = read_suite(find_suite(file, app.data_dir), app.data_dir)
    suite = select_cases(suite, case_patterns=cases, tags=tags, trials=trials)
    report = _run(app, suite, quiet=as_json, llm_id=llm_id, parallel=parallel)
    show_report(report, as_json=as_json)
    write_report_files(report, find_run(app.data_dir, report.run_id), files)
    return exit_code(report)


def _run(app: AppContext, suite: EvalSuite, *, quiet: bool, **options: Any) -> Any:
    from poor_bench.cli.suite_view import open_suite_view
    from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
    from poor_bench.runner.control import RunControl

    control = RunControl()
    with open_suite_view(quiet=quiet) as view, stop_on_signal(control):
        return run_suite_now(suite, SuiteOptions(data_dir=app.data_dir, **options), view, control)
