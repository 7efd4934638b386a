"""The report of a suite on the console and in files, after a run or of a stored one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.options import HTML_FILE, OutputFileType, combine
from poor_bench.cli.output import print_json, print_table, say
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult, EvalTagResult
    from poor_bench.evaluation.stored_run import SuiteRun
    from poor_bench.runs.history import RunHistory


report_file_options = combine(
    click.option("--html", "html_file", type=HTML_FILE, help="Write one HTML page with replays."),
    click.option("--junit", "junit_file", type=OutputFileType(".xml"), help="Write JUnit XML."),
    click.option(
        "--output", "json_file", type=OutputFileType(".json"), help="Write the report as JSON."
    ),
)


def write_report_files(
    report: EvalSuiteResult, run: SuiteRun | None, files: dict[str, Path | None]
) -> None:
    """Write the files that the options name, and list them on standard error."""
    from poor_bench.evaluation.reports import (
        report_to_html,
        report_to_junit,
        write_file,
        write_report,
    )

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


def show_report(report: EvalSuiteResult, history: RunHistory | None, *, as_json: bool) -> None:
    """Print a report as JSON, or as a table followed by failures and results by tag.

    Args:
        report: Of a run.
        history: Where the run is stored; None for the report of a file.
        as_json: True to print JSON.
    """
    if as_json:
        from poor_bench.evaluation.reports import report_to_json
        from poor_bench.runs.history import run_to_json

        shared = {}
        if history is not None:
            n_failed, cost_usd = report.n_failed, report.cost_usd
            run = run_to_json(history, report.run_id, n_failed=n_failed, cost_usd=cost_usd)
            shared["run"] = run
        print_json(shared | report_to_json(report))
        return
    print_table(map(_build_row, report.case_results))
    for case in report.case_results:
        for line in _list_reasons(case):
            say(f"{case.id}: {line}")
    if report.tag_results:
        print_table(map(_build_tag_row, report.tag_results))
    say(_summarise(report))


def exit_code(report: EvalSuiteResult) -> int:
    """130 if the run was stopped, 1 if a case failed, 3 if a case was not run, else 0."""
    if report.cancelled:
        return 130
    if report.failed:
        return 1
    return 3 if report.not_run else 0


def _build_row(case: EvalCaseResult) -> dict[str, str]:
    from poor_bench.metrics import cost_text, count_text, time_text

    n_passed = sum(trial.passed for trial in case.trial_results)
    missing = "n/a" if case.trials_run else ""
    return {
        "Case": case.id,
        "": case.status.value.replace("_", " "),
        "By": case.mode or "",
        ">Trials": f"{n_passed}/{case.trials_run}" if case.trials_run else "",
        ">Duration": time_text(case.avg_duration_ms),
        ">Actions": str(case.actions) if case.trials_run else "",
        ">Tokens": missing if case.n_tokens is None else count_text(case.n_tokens),
        ">Cost": cost_text(case.avg_estimated_cost_usd) or missing,
    }


def _list_reasons(case: EvalCaseResult) -> list[str]:
    if case.status.value == "not_run" and not case.failures:
        return ["not run: the run was stopped first", *case.read_errors]
    return [*case.reasons, *case.read_errors]


def _build_tag_row(tag: EvalTagResult) -> dict[str, str]:
    interval = tag.pass_interval
    return {
        "Tag": tag.tag,
        ">Passed": f"{tag.passed}/{tag.total}",
        ">Pass rate": f"{tag.pass_rate:.2f}" if tag.total else "n/a",
        "95 % CI": "{:.2f} to {:.2f}".format(*interval) if interval else "",
        "": f"{tag.not_run} not run" if tag.not_run else "",
    }


def _summarise(report: EvalSuiteResult) -> str:
    text = f"{report.passed} of {write_count(report.total, 'case')} passed"
    if "pass_rate" in report.intervals:
        low, high = report.intervals["pass_rate"]
        text += f" ({report.pass_rate:.2f}, 95 % CI {low:.2f} to {high:.2f})"
    if report.not_run:
        text += f"; {report.not_run} not run, excluded from the rate"
    text = f"{text}. {_describe_models(report)}".rstrip()
    return f"{text} Run {report.run_id}" if report.run_id else text


def _describe_models(report: EvalSuiteResult) -> str:
    """One sentence on the share of models in a result; empty where a model acted in all trials."""
    trials = [trial for case in report.case_results for trial in case.trial_results]
    ran = [trial for trial in trials if trial.failure is None]
    n_playbook = sum(trial.mode == "playbook" for trial in ran)
    if not n_playbook:
        return ""
    if n_playbook == len(ran):
        return "No model was used: only playbooks acted."
    return f"A model acted in {len(ran) - n_playbook} of {write_count(len(ran), 'trial')}."
