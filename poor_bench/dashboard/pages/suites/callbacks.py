"""Callbacks of the page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import State

from poor_bench.dashboard.bindings import bind_address, bind_file, bind_view
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.pages.suites.files import cases_csv, runs_csv
from poor_bench.dashboard.pages.suites.ids import SuitesIds as Ids
from poor_bench.dashboard.pages.suites.layout import no_runs, suite_chips
from poor_bench.dashboard.pages.suites.replay import replay_card
from poor_bench.dashboard.pages.suites.selection import (
    SuiteSelection,
    chosen_case,
    chosen_run,
    chosen_trial,
    of_the_same_suite,
    selection_of,
)
from poor_bench.dashboard.pages.suites.tables import case_table, run_table, suite_tiles, tag_card
from poor_bench.dashboard.pages.suites.trends import trend_card
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.evaluation.models import EvalSuiteResult


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Note, suite switches, figures, cases, tags, replay and runs."""
    reports, selection = services.suites.reports(), selection_of(search)
    report = chosen_run(reports, selection)
    if report is None:
        return "no runs yet", None, None, no_runs(), None, None, None
    case = chosen_case(report, selection)
    suites = list(dict.fromkeys(each.name for each in reports))
    of_suite = of_the_same_suite(reports, report)
    return (
        note(services, report),
        suite_chips(suites, report.name),
        suite_tiles(report),
        case_table(report, selection, case.id if case else ""),
        tag_card(report),
        replay(services, report, selection),
        run_table(of_suite, selection, report.run_id),
    )


def trends(services: Services, search: str | None) -> Component | None:
    """Chart of the suite that is shown."""
    reports = services.suites.reports()
    report = chosen_run(reports, selection_of(search))
    return trend_card(of_the_same_suite(reports, report)) if report else None


def note(services: Services, report: EvalSuiteResult) -> str:
    """One line about the run that is shown."""
    parts = [report.name, f"run of {report.started[:16].replace('T', ' ')} UTC"]
    parts.append(counted(len(report.case_results), "case"))
    parts += [f"model: {report.models}"] if report.models else []
    if services.suites.is_going_on(report.run_id):
        parts.append("running")
    elif report.cancelled:
        parts.append("stopped early")
    return " · ".join(parts)


def replay(
    services: Services, report: EvalSuiteResult, selection: SuiteSelection
) -> Component | None:
    """The selected case with one of its trials, step by step."""
    result = chosen_case(report, selection)
    if result is None:
        return None
    trial = chosen_trial(result, selection)
    case = services.suites.case(report.run_id, result.id)
    return replay_card(
        report.run_id,
        result,
        trial,
        case.directive if case else "",
        services.suites.steps(report.run_id, trial) if trial else [],
        selection,
    )


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def draw(search: str) -> tuple[Any, ...]:
        note, *parts = show(services, search)
        return note, *(still(part, search=search) for part in parts)

    parts = (Ids.NOTE, Ids.CHIPS, Ids.TILES, Ids.CASES, Ids.TAGS, Ids.REPLAY, Ids.RUNS)
    bind_view(app, Ids.SEARCH, parts, draw)
    bind_view(app, Ids.SEARCH, (Ids.TRENDS,), lambda search: (trends(services, search),))
    bind_address(app, Ids.SEARCH)
    shown = State(Ids.SEARCH, "data")
    bind_file(app, Ids.DOWNLOAD, Ids.CASES_CSV, partial(cases_csv, services), shown)
    bind_file(app, Ids.DOWNLOAD, Ids.RUNS_CSV, partial(runs_csv, services), shown)
