"""Layout of the page: ids, state of the address, cards, the form that starts a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    card,
    empty_state,
    loading_state,
    number_range,
    page_head,
    set_code,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    chip_row,
    file_buttons,
)
from poor_bench.dashboard.start_form import REQUIRED, StartForm, cost_field
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTrialResult,
)
from poor_bench.evaluation.stored_run import SUITE_RUNS


class SuitesIds(StrEnum):
    """SuitesIds that callbacks refer to."""

    SEARCH = "suites-search-store"
    NOTE = "suites-note-text"
    CHIPS = "suites-chips-body"
    TILES = "suites-tiles-body"
    CASES = "suites-cases-body"
    TAGS = "suites-tags-body"
    REPLAY = "suites-replay-body"
    RUNS = "suites-runs-body"
    TRENDS = "suites-trends-body"
    CASES_CSV = "suites-cases-csv-button"
    RUNS_CSV = "suites-runs-csv-button"
    TAGS_CSV = "suites-tags-csv-button"
    DOWNLOAD = "suites-file-download"


@dataclass(frozen=True, kw_only=True)
class SuiteUrl(TablesUrl):
    """State of the page; the page selects what is empty."""

    suite: str = ""
    run: str = ""
    case: str = ""
    trial: int = 0


def chosen_run(reports: Sequence[EvalSuiteResult], url: SuiteUrl) -> EvalSuiteResult | None:
    """The selected run, else the newest of the selected suite, else the newest."""
    named = [report for report in reports if report.run_id == url.run]
    of_suite = [report for report in reports if report.name == url.suite]
    candidates = named or of_suite or reports
    return candidates[-1] if candidates else None


def of_the_same_suite(
    reports: Sequence[EvalSuiteResult], report: EvalSuiteResult
) -> list[EvalSuiteResult]:
    """Reports of the same suite as one of them."""
    return [each for each in reports if each.name == report.name]


def chosen_case(report: EvalSuiteResult, url: SuiteUrl) -> EvalCaseResult | None:
    """The selected case, else the first that failed, else the first."""
    cases = report.case_results
    named = [case for case in cases if case.id == url.case]
    failed = [case for case in cases if case.status is CaseStatus.FAILED]
    return next(iter((*named, *failed, *cases)), None)


def chosen_trial(case: EvalCaseResult, url: SuiteUrl) -> EvalTrialResult | None:
    """The selected trial, else the first that failed, else the first."""
    trials = case.trial_results
    named = [trial for trial in trials if trial.trial == url.trial]
    failed = [trial for trial in trials if not trial.passed]
    return next(iter((*named, *failed, *trials)), None)


LINKS = StayLinks(SuitesIds.SEARCH)


def layout(url: SuiteUrl) -> Component:
    """The page without data."""
    return html.Div(
        [
            page_head("Suites", html.Span(id=SuitesIds.NOTE)),
            *FORM.build(_fields()),
            html.Div(html.Div(id=SuitesIds.CHIPS), className="filter-bar"),
            html.Div(loading_state(2), id=SuitesIds.TILES, className="tiles-frame"),
            card(
                "Cases",
                html.Div(loading_state(6, has_columns=True), id=SuitesIds.CASES),
                tools=file_buttons(SuitesIds.CASES_CSV),
            ),
            card(
                "Tags",
                html.Div(id=SuitesIds.TAGS),
                tools=file_buttons(SuitesIds.TAGS_CSV),
                class_name="if-filled",
            ),
            html.Div(id=SuitesIds.TRENDS),
            card(
                "Runs",
                html.Div(loading_state(3, has_columns=True), id=SuitesIds.RUNS),
                tools=file_buttons(SuitesIds.RUNS_CSV),
                class_name="suite-runs if-filled",
            ),
            html.Div(loading_state(6), id=SuitesIds.REPLAY),
            dcc.Store(id=SuitesIds.SEARCH, data=url.search),
            dcc.Download(id=SuitesIds.DOWNLOAD),
        ],
        className="page-body",
    )


def suite_chips(suites: Sequence[str], chosen: str) -> Component | None:
    """Switches between suites; None with only one."""
    if len(suites) < 2:
        return None
    members = [
        LINKS.chip(name, SuiteUrl(suite=name).search, is_active=name == chosen) for name in suites
    ]
    return chip_row("Suite", members)


def no_runs() -> Component:
    """Content before the first run."""
    return empty_state("No runs yet", set_code("Suite `example` needs no model."))


class SuiteStartIds(StrEnum):
    """Choices of the form that starts a run."""

    SUITE = "suite-name-select"
    TRIALS = "suite-trials-input"
    LLM = "suite-llm-select"
    MAX_COST = "suite-cost-input"


MOST_TRIALS = 1000
FORM = StartForm(
    prefix="suite",
    title="Run suite",
    fields=(SuiteStartIds.SUITE, SuiteStartIds.TRIALS, SuiteStartIds.LLM, SuiteStartIds.MAX_COST),
    note="Runs workspace code.",
    kind=SUITE_RUNS,
)


def _fields() -> list[Component]:
    return [
        dmc.Select(
            id=SuiteStartIds.SUITE,
            label="Suite",
            placeholder=REQUIRED,
            data=[],
            searchable=True,
        ),
        dmc.Select(
            id=SuiteStartIds.LLM,
            label="Model",
            placeholder="default",
            data=[],
            searchable=True,
            clearable=True,
        ),
        dmc.NumberInput(
            id=SuiteStartIds.TRIALS,
            label="Trials",
            placeholder="default",
            **number_range(1, MOST_TRIALS),
            allowDecimal=False,
            debounce=400,
            value="",
        ),
        cost_field(SuiteStartIds.MAX_COST),
    ]
