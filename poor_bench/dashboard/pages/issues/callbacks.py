"""Callbacks of the page: query services, build components."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Output, State, no_update

from poor_bench.dashboard.components.controls import llm_options, test_options
from poor_bench.dashboard.page import (
    bind_address,
    bind_computed_view,
    bind_controls,
    on_data,
)
from poor_bench.dashboard.pages.issues.groups import issue_groups, tax_table
from poor_bench.dashboard.pages.issues.layout import (
    IssuesIds,
    IssueUrl,
    chosen_issues,
    chosen_tax,
    severity_chips,
)
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.issues.detect import group_issues, sort_by_severity
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.dashboard.services.issue_reports import IssueReport
    from poor_bench.dashboard.services.services import Services

_COLUMNS = ("detector_id", "llm_id", "test_id", "trial", "lost_score", "evidence")
_TAX_COLUMNS = ("llm_id", "class_id", "n_scored", "score", "strict_score", "tax", "mend")


Options = list[dict[str, str]]


def choices(services: Services, chosen: Sequence[str]) -> tuple[Options, Options, Options]:
    """List the choices of models, classes and levels."""
    models = llm_options(services.results.table().llm_ids, chosen, services.llms.name)
    return models, *test_options(services.files.workspace())


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Build note, severity switches, causes and format tax."""
    answer = services.issues.report()
    if answer.value is None:
        return no_update, no_update, no_update, no_update, False
    report, url = answer.value, IssueUrl.read(search)
    issues = chosen_issues(report.issues, url, report.tests)
    groups = sort_by_severity(group_issues(issues, detectors=report.detectors))
    shown = [group for group in groups if not url.severity or group.severity == url.severity]
    return (
        note(report, url),
        severity_chips(groups, url),
        issue_groups(shown, services.llms.name, url, n_results=report.n_results),
        tax_table(chosen_tax(report.tax, url), services.llms.name),
        answer.is_current,
    )


def note(report: IssueReport, url: IssueUrl) -> str:
    """Summarise the findings in one line."""
    issues = chosen_issues(report.issues, url, report.tests)
    lost = sum(issue.lost_score for issue in issues)
    found = f"{write_count(len(issues), 'finding')} in {write_count(report.n_results, 'result')}"
    return f"{found} · {lost:,.1f} points lost"


def issues_csv(services: Services, search: str | None) -> TableFile | None:
    """Export the selected issues."""
    report = services.issues.report().value
    if report is None:
        return None
    issues = chosen_issues(report.issues, IssueUrl.read(search), report.tests)
    rows = [{name: getattr(issue, name) for name in _COLUMNS} for issue in issues]
    return table_file("issues", rows, _COLUMNS)


def tax_csv(services: Services, search: str | None) -> TableFile | None:
    """Export the selected rows of the format tax."""
    report = services.issues.report().value
    if report is None:
        return None
    taxed = chosen_tax(report.tax, IssueUrl.read(search))
    rows = [{name: getattr(row, name) for name in _TAX_COLUMNS} for row in taxed]
    return table_file("format_tax", rows, _TAX_COLUMNS)


def register(app: Dash, services: Services) -> None:
    """Register the callbacks."""

    @on_data(
        app,
        Output(IssuesIds.LLMS, "data"),
        Output(IssuesIds.CLASSES, "data"),
        Output(IssuesIds.LEVELS, "data"),
        State(IssuesIds.LLMS, "value"),
    )
    def _choices(chosen: list[str] | None) -> Any:
        return choices(services, chosen or ())

    bind_controls(
        app, IssuesIds.SEARCH, IssueUrl, llm_ids=IssuesIds.LLMS, classes=IssuesIds.CLASSES
    )

    filled = (IssuesIds.NOTE, IssuesIds.CHIPS, IssuesIds.GROUPS, IssuesIds.TAX)
    bind_computed_view(app, IssuesIds.SEARCH, filled, IssuesIds.WAIT, partial(show, services))
    bind_address(app, IssuesIds.SEARCH)
    shown = State(IssuesIds.SEARCH, "data")
    files = {IssuesIds.CSV: issues_csv, IssuesIds.TAX_CSV: tax_csv}
    bind_files(app, services, IssuesIds.DOWNLOAD, files, shown)
