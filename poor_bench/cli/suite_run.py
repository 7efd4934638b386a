"""`suite run`: run the cases of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import harmless, json_option
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
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag; repeatable."
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Only cases with this id or glob; repeatable.",
)
@click.option("--trials", type=click.IntRange(1, 1000), help="Number of trials, for all cases.")
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Parallel trials, each in a browser of its own.",
)
@click.option(
    "--llm",
    "llm_id",
    metavar="ID",
    help="LLM for all cases; cases that a playbook completes do not use it.",
)
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
    """Run the cases of a suite, given as a FILE or by NAME.

    Exit code: 1 if a case failed, else 3 if a case could not be run, else 0. Ctrl-C stops cleanly:
    finished trials are kept, and `suite report` shows them.
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
    if llm_id and not report.llms:
        click.echo(harmless(_not_used(llm_id)), err=True)
    return exit_code(report)


def _not_used(llm_id: str) -> str:
    return (
        f"Warning: {llm_id} was not used, so this result says nothing about it. No trial reached "
        "a model; to test one, set `execution_mode: agent_only` in the cases."
    )


def _run(app: AppContext, suite: EvalSuite, *, quiet: bool, **options: Any) -> Any:
    from poor_bench.cli.suite_view import open_suite_view
    from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
    from poor_bench.runner.control import RunControl

    control = RunControl()
    with open_suite_view(quiet=quiet) as view, stop_on_signal(control):
        return run_suite_now(suite, SuiteOptions(data_dir=app.data_dir, **options), view, control)
