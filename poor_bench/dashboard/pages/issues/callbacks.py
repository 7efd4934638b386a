"""Callbacks of the page: query services, build components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from dash import Dash, Output, State, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, loading_state
from poor_bench.dashboard.components.controls import llm_options, test_options
from poor_bench.dashboard.page import (
    bind_address,
    bind_computed_view,
    bind_controls,
    on_data,
)
from poor_bench.dashboard.pages.issues.layout import (
    IssuesIds,
    IssueUrl,
    chosen_issues,
    chosen_tax,
    severity_chips,
    sketch_page,
)
from poor_bench.dashboard.pages.issues.tables import (
    CAUSES,
    issue_groups,
    list_tax_columns,
    pick_taxed,
    tax_table,
)
from poor_bench.dashboard.services.issue_reports import IssueReport
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.issues.detector import IssueGroup
from poor_bench.messages import write_count

_COLUMNS = (
    ("severity", "Severity"), ("title", "Cause"), ("llm_id", "Model ID"), ("model", "Model"),
    ("test_id", "Test ID"), ("trial", "Trial"), ("lost_score", "Lost score"),
    ("evidence", "Evidence"), ("detector_id", "Detector"),
)  # fmt: skip
_HEADINGS = {column.heading for column in CAUSES.columns}


Options = list[dict[str, str]]


def choices(services: Services, chosen: Sequence[str]) -> tuple[Options, Options, Options]:
    """List the choices of models, classes and levels."""
    models = llm_options(services.results.table().llm_ids, chosen, services.llms.name)
    return models, *test_options(services.files.workspace())


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Build note, severity switches, causes and format tax."""
    answer = services.issues.report()
    if answer.value is None:
        note = _write_progress(*services.issues.progress)
        return (
            note,
            None,
            loading_state(8, has_columns=True),
            loading_state(3, has_columns=True),
            False,
        )
    report, url = answer.value, IssueUrl.read(search)
    groups = _group(services, report, url)
    shown = _of_severity(groups, url)
    note = describe_findings(report, groups)
    if report.is_sample:
        note = f"{_write_progress(*services.issues.progress)} · sample: {note}"
    return (
        note,
        severity_chips(groups, url),
        _show_causes(services, report, shown, url),
        loading_state(3, has_columns=True)
        if report.is_sample
        else _show_tax(services, report, url),
        answer.is_current,
    )


def _show_tax(services: Services, report: IssueReport, url: IssueUrl) -> Component:
    """Build the format tax of the selected models."""
    llm_ids = url.llm_ids or services.results.table().llm_ids
    return tax_table(chosen_tax(report.tax, url), llm_ids, services.llms.name, url)


def _show_causes(
    services: Services, report: IssueReport, groups: Sequence[IssueGroup], url: IssueUrl
) -> Component:
    """Build the causes; above those of a sample, how far all results are read."""
    causes = issue_groups(groups, services.llms.name, url, n_results=report.n_results)
    if not report.is_sample:
        return causes
    n_read, n_results = services.issues.progress
    share = n_read / (n_results or 1)
    bar = html.Progress(
        value=f"{share:.3f}", max="1", className="causes-progress", **aria(label="Progress")
    )
    return html.Div([bar, causes])


def _write_progress(n_read: int, n_results: int) -> str:
    if not n_read:
        return "computing ..."
    return f"computing: {n_read:,} of {write_count(n_results, 'result')} read"


def _group(services: Services, report: IssueReport, url: IssueUrl) -> list[IssueGroup]:
    """Group the selected issues by cause."""
    choice = (url.llm_ids, url.classes, url.levels)
    return services.issues.group(
        report, choice, lambda: chosen_issues(report.issues, url, report.tests)
    )


def describe_findings(report: IssueReport, groups: Sequence[IssueGroup]) -> str:
    """Summarise the findings in one line."""
    n_found = sum(group.n_trials for group in groups)
    lost = sum(group.lost_score for group in groups)
    found = f"{write_count(n_found, 'finding')} in {write_count(report.n_results, 'result')}"
    return f"{found} · {lost:,.1f} points lost"


def _of_severity(groups: Sequence[IssueGroup], url: IssueUrl) -> list[IssueGroup]:
    return [group for group in groups if not url.severity or group.severity == url.severity]


def issues_csv(services: Services, search: str | None) -> TableFile:
    """Export the selected issues, in the order of their causes on screen, once they are found."""
    report, url = services.issues.wait(), IssueUrl.read(search)
    groups = _group(services, report, url)
    shown = {group.detector_id: group for group in _of_severity(groups, url)}
    issues = chosen_issues(report.issues, url, report.tests)
    ranks = {detector_id: rank for rank, detector_id in enumerate(shown)}
    found = [issue for issue in issues if issue.detector_id in shown]
    rows = [
        {**asdict(issue), "model": services.llms.name(issue.llm_id),
         "title": shown[issue.detector_id].title,
         "severity": shown[issue.detector_id].severity.value}
        for issue in sorted(found, key=lambda issue: ranks[issue.detector_id])
    ]  # fmt: skip
    chosen = CAUSES.select_shown(groups, url.find_view(CAUSES.name))
    hidden = _HEADINGS - {column.heading for column in chosen}
    return table_file("issues", rows, [each for each in _COLUMNS if each[1] not in hidden])


def tax_csv(services: Services, search: str | None) -> TableFile:
    """Export the selected rows of the format tax, once they are computed."""
    report, url = services.issues.wait(), IssueUrl.read(search)
    rows = pick_taxed(chosen_tax(report.tax, url))
    return list_tax_columns(services.llms.name).file("format_tax", rows, url)


def sketch(services: Services, url: IssueUrl) -> Component:
    """Build head and causes of the page, as far as they are known."""
    note, chips, causes, *_ = show(services, url.search)
    return sketch_page(note, chips, causes)


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
        app,
        IssuesIds.SEARCH,
        IssueUrl,
        llm_ids=IssuesIds.LLMS,
        classes=IssuesIds.CLASSES,
        levels=IssuesIds.LEVELS,
    )

    filled = (IssuesIds.NOTE, IssuesIds.CHIPS, IssuesIds.GROUPS, IssuesIds.TAX)
    bind_computed_view(app, IssuesIds.SEARCH, filled, IssuesIds.WAIT, partial(show, services))
    bind_address(app, IssuesIds.SEARCH)
    shown = State(IssuesIds.SEARCH, "data")
    files = {IssuesIds.CSV: issues_csv, IssuesIds.TAX_CSV: tax_csv}
    bind_files(app, services, IssuesIds.DOWNLOAD, files, shown)
