"""Suite, run, case and trial that the page shows, as its address says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.dashboard.addresses import first, search_of
from poor_bench.dashboard.links import Search, read_search
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTrialResult,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSelection:
    """State of the page; the page selects what is empty."""

    suite: str = ""
    run: str = ""
    case: str = ""
    trial: int = 0

    @property
    def search(self) -> str:
        """Query part of the address of this state."""
        return search_of(
            suite=[self.suite],
            run=[self.run],
            case=[self.case],
            trial=[str(self.trial)] if self.trial else [],
        )

    def changed(self, **changes: Any) -> SuiteSelection:
        """The state with other values."""
        return replace(self, **changes)


def selection_of(search: str | None) -> SuiteSelection:
    """State that the query part of an address describes.

    Example:
        >>> selection_of("?case=login&trial=2").trial
        2
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> SuiteSelection:
    """State that the parts of a query describe."""
    trial = first(query, "trial", "0")
    is_number = trial.isascii() and trial.isdigit() and len(trial) < 6
    return SuiteSelection(
        suite=first(query, "suite"),
        run=first(query, "run"),
        case=first(query, "case"),
        trial=int(trial) if is_number else 0,
    )


def chosen_run(
    reports: Sequence[EvalSuiteResult], selection: SuiteSelection
) -> EvalSuiteResult | None:
    """The selected run, else the newest of the selected suite, else the newest."""
    named = [report for report in reports if report.run_id == selection.run]
    of_suite = [report for report in reports if report.name == selection.suite]
    candidates = named or of_suite or reports
    return candidates[-1] if candidates else None


def of_the_same_suite(
    reports: Sequence[EvalSuiteResult], report: EvalSuiteResult
) -> list[EvalSuiteResult]:
    """Reports of the same suite as one of them."""
    return [each for each in reports if each.name == report.name]


def chosen_case(report: EvalSuiteResult, selection: SuiteSelection) -> EvalCaseResult | None:
    """The selected case, else the first that failed, else the first."""
    cases = report.case_results
    named = [case for case in cases if case.id == selection.case]
    failed = [case for case in cases if case.status is CaseStatus.FAILED]
    return next(iter((*named, *failed, *cases)), None)


def chosen_trial(case: EvalCaseResult, selection: SuiteSelection) -> EvalTrialResult | None:
    """The selected trial, else the first that failed, else the first."""
    trials = case.trial_results
    named = [trial for trial in trials if trial.trial == selection.trial]
    failed = [trial for trial in trials if not trial.passed]
    return next(iter((*named, *failed, *trials)), None)
