"""What `suite run` and `suite report` print and write."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from poor_bench.cli.output import Column, console, harmless, plain_table, print_json
from poor_bench.cli.output_file import HTML_FILE, OutputFile

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult
    from poor_bench.evaluation.stored_run import StoredRun

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--html", "html_file", type=HTML_FILE, help="Write one HTML page with replays."),
    click.option("--junit", "junit_file", type=OutputFile(".xml"), help="Write JUnit XML."),
    click.option(
        "--output", "json_file", type=OutputFile(".json"), help="Write the report as JSON."
    ),
)


def report_file_options(function: _Command) -> _Command:
    """Give a command the options `--html --junit --output`."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_OPTIONS), function
    )


def write_report_files(
    report: EvalSuiteResult,
    run: StoredRun | None,
    files: dict[str, Path | None],
) -> None:
    """Write the files that the options name, and say so on standard error."""
    from poor_bench.evaluation.html.page import report_to_html
    from poor_bench.evaluation.junit import report_to_junit
    from poor_bench.evaluation.report import write_file, write_report

    writers: dict[str, Callable[[Path], None]] = {
        "html_file": lambda path: write_file(path, report_to_html(report, run)),
        "junit_file": lambda path: write_file(path, report_to_junit(report)),
        "json_file": lambda path: write_report(report, path),
    }
    for name, write in writers.items():
        path = files[name]
        if path is not None:
            write(path)
            click.echo(f"Wrote {path}", err=True)


def show_report(report: EvalSuiteResult, *, as_json: bool) -> None:
    """Print a report as JSON, or as a table with what failed below it."""
    if as_json:
        from poor_bench.evaluation.report import report_to_json

        print_json(report_to_json(report))
        return
    columns: list[Column] = [
        "Case", "", "By", ("Trials", "right"), ("Duration", "right"), ("Actions", "right"),
        ("Tokens", "right"), ("Cost", "right"),
    ]  # fmt: skip
    console().print(plain_table(columns, [_cells(case) for case in report.case_results]))
    for case in report.case_results:
        for line in _reasons(case):
            click.echo(harmless(f"{case.id}: {line}"))
    click.echo(_headline(report))


def exit_code(report: EvalSuiteResult) -> int:
    """Return 130 where the run was stopped, 1 where a case failed, 3 where one was not run."""
    if report.cancelled:
        return 130
    if report.failed:
        return 1
    return 3 if report.not_run else 0


def _cells(case: EvalCaseResult) -> list[str]:
    from poor_bench.reports.number_text import cost_text, count_text, time_text

    n_passed = sum(trial.passed for trial in case.trial_results)
    return [
        case.id,
        case.status.value.replace("_", " "),
        case.mode or "",
        f"{n_passed}/{case.trials_run}" if case.trials_run else "",
        time_text(case.avg_duration_ms),
        str(case.actions) if case.trials_run else "",
        count_text(case.input_tokens + case.output_tokens),
        cost_text(case.avg_estimated_cost_usd),
    ]


def _reasons(case: EvalCaseResult) -> list[str]:
    not_run = dict.fromkeys(f"could not be run: {failure.message}" for failure in case.failures)
    if case.status.value == "not_run" and not not_run:
        return ["not run: the run was stopped before its end"]
    return [*case.failed_checks, *not_run]


def _headline(report: EvalSuiteResult) -> str:
    text = f"{report.passed} of {report.total} cases passed"
    if report.pass_rate is not None:
        low, high = report.intervals["pass_rate"]
        text += f" ({report.pass_rate:.2f}, 95 % interval {low:.2f} to {high:.2f})"
    if report.not_run:
        text += f"; {report.not_run} not run, which count as neither"
    return f"{text}. Run {report.run_id}" if report.run_id else f"{text}."
