"""Callbacks of the page, and its tables as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import State

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import bind_address, bind_view
from poor_bench.dashboard.pages.suites.layout import (
    SuitesIds,
    SuiteUrl,
    chosen_case,
    chosen_run,
    chosen_trial,
    no_runs,
    of_the_same_suite,
    suite_chips,
)
from poor_bench.dashboard.pages.suites.replay import replay_card
from poor_bench.dashboard.pages.suites.start import register_start
from poor_bench.dashboard.pages.suites.summary import suite_tiles, trend_card
from poor_bench.dashboard.pages.suites.tables import (
    TAGS,
    case_table,
    define_cases,
    define_runs,
    run_table,
    tag_table,
)
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.evaluation.models import EvalSuiteResult


def cases_csv(services: Services, search: str | None) -> TableFile:
    """Cases of the run that is shown."""
    url = SuiteUrl.read(search)
    report = chosen_run(services.suites.reports(), url)
    return define_cases().file("suite_cases", report.case_results if report else (), url)


def tags_csv(services: Services, search: str | None) -> TableFile:
    """Tags of the run that is shown."""
    url = SuiteUrl.read(search)
    report = chosen_run(services.suites.reports(), url)
    return TAGS.file("suite_tags", report.tag_results if report else (), url)


def runs_csv(services: Services, search: str | None) -> TableFile:
    """Runs of the suite that is shown, newest first unless the reader sorts them."""
    reports, url = services.suites.reports(), SuiteUrl.read(search)
    report = chosen_run(reports, url)
    runs = of_the_same_suite(reports, report) if report else []
    return define_runs().file("suite_runs", runs[::-1], url)


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Note, suite switches, figures, cases, tags, replay and runs."""
    reports, url = services.suites.reports(), SuiteUrl.read(search)
    report = chosen_run(reports, url)
    if report is None:
        return "no runs yet", None, None, no_runs(), None, None, None
    case = chosen_case(report, url)
    suites = list(dict.fromkeys(each.name for each in reports))
    of_suite = of_the_same_suite(reports, report)
    return (
        note(services, report),
        suite_chips(suites, report.name),
        suite_tiles(report),
        case_table(report, url, case.id if case else ""),
        tag_table(report, url),
        replay(services, report, url),
        run_table(of_suite, url, report.run_id),
    )


def trends(services: Services, search: str | None) -> Component | None:
    """Chart of the suite that is shown."""
    reports = services.suites.reports()
    report = chosen_run(reports, SuiteUrl.read(search))
    return trend_card(of_the_same_suite(reports, report)) if report else None


def note(services: Services, report: EvalSuiteResult) -> str:
    """One line about the run that is shown."""
    parts = [report.name, f"run of {report.started[:16].replace('T', ' ')} UTC"]
    parts.append(write_count(len(report.case_results), "case"))
    parts += [f"model: {report.models}"] if report.models else []
    if services.suites.is_going_on(report.run_id):
        parts.append("running")
    elif report.cancelled:
        parts.append("stopped early")
    return " · ".join(parts)


def replay(services: Services, report: EvalSuiteResult, url: SuiteUrl) -> Component | None:
    """The selected case with one of its trials, step by step."""
    result = chosen_case(report, url)
    if result is None:
        return None
    trial = chosen_trial(result, url)
    case = services.suites.case(report.run_id, result.id)
    return replay_card(
        report.run_id,
        result,
        trial,
        case.directive if case else "",
        services.suites.steps(report.run_id, trial) if trial else [],
        url,
    )


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def draw(search: str) -> tuple[Any, ...]:
        note, *parts = show(services, search)
        return note, *(still(part, search=search) for part in parts)

    parts = (
        SuitesIds.NOTE,
        SuitesIds.CHIPS,
        SuitesIds.TILES,
        SuitesIds.CASES,
        SuitesIds.TAGS,
        SuitesIds.REPLAY,
        SuitesIds.RUNS,
    )
    bind_view(app, SuitesIds.SEARCH, parts, draw)
    bind_view(
        app, SuitesIds.SEARCH, (SuitesIds.TRENDS,), lambda search: (trends(services, search),)
    )
    bind_address(app, SuitesIds.SEARCH)
    register_start(app, services)
    shown = State(SuitesIds.SEARCH, "data")
    files = {
        SuitesIds.CASES_CSV: cases_csv, SuitesIds.TAGS_CSV: tags_csv, SuitesIds.RUNS_CSV: runs_csv,
    }  # fmt: skip
    bind_files(app, services, SuitesIds.DOWNLOAD, files, shown)
