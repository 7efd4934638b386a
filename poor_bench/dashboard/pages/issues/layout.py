"""Layout of the page: ids, state of the address, filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import card, loading_state, page_head
from poor_bench.dashboard.components.controls import StayLinks, chip_row, file_buttons, multi_choice
from poor_bench.dashboard.page import build_wait_clock
from poor_bench.dashboard.url_state import TablesUrl, query_field
from poor_bench.issues.detector import IssueGroup, IssueSeverity
from poor_bench.issues.form import FormatTax
from poor_bench.issues.found_issues import FoundIssues
from poor_bench.models.test import Test


class IssuesIds(StrEnum):
    """Elements used by callbacks."""

    SEARCH = "issues-search-store"
    NOTE = "issues-note-text"
    LLMS = "issues-llms-select"
    CLASSES = "issues-classes-select"
    LEVELS = "issues-levels-select"
    CHIPS = "issues-chips-body"
    GROUPS = "issues-groups-body"
    TAX = "issues-tax-body"
    WAIT = "issues-wait-interval"
    CSV = "issues-csv-button"
    TAX_CSV = "issues-tax-csv-button"
    DOWNLOAD = "issues-file-download"


@dataclass(frozen=True, kw_only=True)
class IssueUrl(TablesUrl):
    """Filters of the page; an empty one lets everything through."""

    llm_ids: tuple[str, ...] = query_field("llm", ())
    classes: tuple[str, ...] = query_field("class", ())
    levels: tuple[int, ...] = query_field("level", (), kind=int)
    severity: str = query_field("severity", kind=IssueSeverity)


def chosen_issues(issues: FoundIssues, url: IssueUrl, tests: Mapping[str, Test]) -> FoundIssues:
    """Filter issues by models, classes and levels; severity belongs to the group."""
    chosen = {
        test.test_id
        for test in tests.values()
        if (not url.classes or test.class_id in url.classes)
        and (not url.levels or test.level in url.levels)
    }
    filters_tests = bool(url.classes or url.levels)
    return issues.where(llm_ids=url.llm_ids, test_ids=chosen if filters_tests else None)


def chosen_tax(rows: Sequence[FormatTax], url: IssueUrl) -> list[FormatTax]:
    """Filter rows by models and classes."""
    return [
        row
        for row in rows
        if (not url.llm_ids or row.llm_id in url.llm_ids)
        and (not url.classes or row.class_id in url.classes)
    ]


LINKS = StayLinks(IssuesIds.SEARCH)
SEVERITY_TEXTS = {
    IssueSeverity.HIGH: "high",
    IssueSeverity.MEDIUM: "medium",
    IssueSeverity.LOW: "low",
}


def layout(url: IssueUrl) -> Component:
    """Build the page without data, with the filters of the address."""
    filters = html.Div(
        [
            multi_choice(IssuesIds.LLMS, "Models", chosen=url.llm_ids),
            multi_choice(IssuesIds.CLASSES, "Classes", chosen=url.classes),
            multi_choice(IssuesIds.LEVELS, "Levels", chosen=[str(n) for n in url.levels]),
            html.Div(id=IssuesIds.CHIPS),
        ],
        className="filter-bar",
    )
    return html.Div(
        [
            page_head("Issues", html.Span(id=IssuesIds.NOTE)),
            filters,
            _cause_card(
                html.Div(loading_state(8, has_columns=True), id=IssuesIds.GROUPS),
                file_buttons(IssuesIds.CSV),
            ),
            card(
                "Format tax",
                html.Div(loading_state(3, has_columns=True), id=IssuesIds.TAX),
                note=metrics.FORMAT_TAX.meaning,
                tools=file_buttons(IssuesIds.TAX_CSV),
            ),
            dcc.Store(id=IssuesIds.SEARCH, data=url.search),
            build_wait_clock(IssuesIds.WAIT),
            dcc.Download(id=IssuesIds.DOWNLOAD),
        ],
        className="page-body",
    )


def sketch_page(note: str, chips: Component | None, causes: Component) -> Component:
    """Build plain elements of what the page shows first."""
    choices = [html.Div(className="multi-choice first-paint-controls") for _ in range(3)]
    parts = [
        page_head("Issues", note),
        html.Div([*choices, html.Div(chips)], className="filter-bar"),
        _cause_card(causes, html.Span(className="first-paint-controls")),
    ]
    return html.Div(parts, className="page-body")


def _cause_card(causes: Component, tools: Component) -> Component:
    note = "One cause per lost point."
    return card("By cause", causes, note=note, tools=tools)


def severity_chips(groups: Sequence[IssueGroup], url: IssueUrl) -> Component:
    """Build the severity switches with the number of trials."""
    counts: Counter[IssueSeverity] = Counter()
    for group in groups:
        counts[group.severity] += group.n_trials
    members = [
        LINKS.chip(
            text,
            url.change(severity="" if url.severity == severity else severity).search,
            is_active=url.severity == severity,
            count=counts[severity],
        )
        for severity, text in SEVERITY_TEXTS.items()
    ]
    return chip_row("Severity", members)
