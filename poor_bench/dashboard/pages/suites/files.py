"""Tables of the page as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.pages.suites.selection import (
    chosen_run,
    of_the_same_suite,
    selection_of,
)
from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult
from poor_bench.reports.csv_table import table_csv

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services


def cases_csv(services: Services, search: str | None) -> dict[str, Any]:
    """Cases of the run that is shown."""
    report = chosen_run(services.suites.reports(), selection_of(search))
    rows = [_case_row(case) for case in report.case_results] if report else []
    return text_file("suite_cases.csv", table_csv(rows))


def runs_csv(services: Services, search: str | None) -> dict[str, Any]:
    """Runs of the suite that is shown, oldest first."""
    reports = services.suites.reports()
    report = chosen_run(reports, selection_of(search))
    rows = [_run_row(each) for each in of_the_same_suite(reports, report)] if report else []
    return text_file("suite_runs.csv", table_csv(rows))


def _case_row(case: EvalCaseResult) -> dict[str, Any]:
    return {
        "case": case.id,
        "verdict": case.status.value,
        "by": case.mode or "",
        "passed_trials": sum(trial.passed for trial in case.trial_results),
        "trials": case.trials_run,
        "mean_ms": case.avg_duration_ms,
        "p95_ms": case.p95_duration_ms,
        "actions": case.actions,
        "mean_cost_usd": case.avg_estimated_cost_usd,
        "why": "; ".join((*case.reasons, *case.read_errors)),
        "tags": ", ".join(case.benchmark_tags),
    }


def _run_row(report: EvalSuiteResult) -> dict[str, Any]:
    low, high = report.intervals.get("pass_rate", (None, None))
    return {
        "run": report.run_id,
        "suite": report.name,
        "started": report.started,
        "passed": report.passed,
        "cases": report.total,
        "not_run": report.not_run,
        "pass_rate": report.pass_rate if report.total else None,
        "low": low,
        "high": high,
        "mean_ms": report.avg_duration_ms,
        "p95_ms": report.p95_duration_ms,
        "mean_cost_usd": report.avg_estimated_cost_usd,
        "by_playbook_rate": report.deterministic_hit_rate,
        "handoff_rate": report.handoff_rate,
        "stopped": report.cancelled,
        "models": report.models,
    }
