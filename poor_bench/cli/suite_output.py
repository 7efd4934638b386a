"""Output of `suite run` and `suite report`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from poor_bench.cli.output import Column, console, harmless, plain_table, print_json
from poor_bench.cli.output_file import HTML_FILE, OutputFile
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult, EvalTagResult
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
    """Add the options `--html --junit --output` to a command."""
    return functools.reduce(
        lambda decorated, option: option(decorated), reversed(_OPTIONS), function
    )


def write_report_files(
    report: EvalSuiteResult,
    run: StoredRun | None,
    files: dict[str, Path | None],
) -> None:
    """Write the files that the options name, and list them on standard error."""
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
    """Print a report as JSON, or as a table followed by failures and results by tag."""
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
    if report.tag_results:
        heads: list[Column] = ["Tag", ("Passed", "right"), ("Pass rate", "right"), "95 % CI", ""]
        console().print(plain_table(heads, [_tag_cells(tag) for tag in report.tag_results]))
    click.echo(harmless(_headline(report)))


def exit_code(report: EvalSuiteResult) -> int:
    """130 if the run was stopped, 1 if a case failed, 3 if a case was not run, else 0."""
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
        cost_text(case.avg_estimated_cost_usd) or ("n/a" if case.trials_run else ""),
    ]


def _reasons(case: EvalCaseResult) -> list[str]:
    if case.status.value == "not_run" and not case.failures:
        return ["not run: the run was stopped first", *case.read_errors]
    return [*case.reasons, *case.read_errors]


def _tag_cells(tag: EvalTagResult) -> list[str]:
    rate = f"{tag.pass_rate:.2f}" if tag.total else "n/a"
    interval = "{:.2f} to {:.2f}".format(*tag.pass_interval) if tag.pass_interval else ""
    not_run = f"{tag.not_run} not run" if tag.not_run else ""
    return [tag.tag, f"{tag.passed}/{tag.total}", rate, interval, not_run]


def _headline(report: EvalSuiteResult) -> str:
    text = f"{report.passed} of {counted(report.total, 'case')} passed"
    if "pass_rate" in report.intervals:
        low, high = report.intervals["pass_rate"]
        text += f" ({report.pass_rate:.2f}, 95 % CI {low:.2f} to {high:.2f})"
    if report.not_run:
        text += f"; {report.not_run} not run, excluded from the rate"
    text = f"{text}. {models_text(report)}".rstrip()
    return f"{text} Run {report.run_id}" if report.run_id else text


def models_text(report: EvalSuiteResult) -> str:
    """One sentence on the share of models in a result; empty where a model acted in all trials."""
    trials = [trial for case in report.case_results for trial in case.trial_results]
    ran = [trial for trial in trials if trial.failure is None]
    n_playbook = sum(trial.mode == "playbook" for trial in ran)
    if not n_playbook:
        return ""
    if n_playbook == len(ran):
        return "No model was used: only playbooks acted."
    return f"A model acted in {len(ran) - n_playbook} of {counted(len(ran), 'trial')}."
