"""Layout of the page: ids, state of the address, filters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.blocks import card, loading_state, page_head
from poor_bench.dashboard.components.controls import StayLinks, chip_row, csv_button, multi_choice
from poor_bench.dashboard.url_state import Search, first, read_search, search_of
from poor_bench.issues.detector import Issue, IssueGroup, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.url_state import Search
    from poor_bench.issues.format_tax import FormatTax


class IssuesIds(StrEnum):
    """Elements used by callbacks."""

    SEARCH = "issues-search-store"
    NOTE = "issues-note-text"
    LLMS = "issues-llms-select"
    CLASSES = "issues-classes-select"
    CHIPS = "issues-chips-body"
    GROUPS = "issues-groups-body"
    TAX = "issues-tax-body"
    WAIT = "issues-wait-interval"
    CSV = "issues-csv-button"
    TAX_CSV = "issues-tax-csv-button"
    DOWNLOAD = "issues-file-download"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueSelection:
    """Filters of the page; an empty one lets everything through."""

    llm_ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    severity: str = ""

    @property
    def search(self) -> str:
        """The query part of the address of this state."""
        return search_of(llm=self.llm_ids, class_=self.classes, severity=[self.severity])

    def changed(self, **changes: Any) -> IssueSelection:
        """Copy the selection with other values."""
        return replace(self, **changes)


def selection_of(search: str | None) -> IssueSelection:
    """Parse the query part of an address.

    Example:
        >>> selection_of("?llm=a&severity=high").severity
        'high'
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> IssueSelection:
    """Read the selection from a parsed query."""
    severity = first(query, "severity")
    return IssueSelection(
        llm_ids=tuple(query.get("llm", ())),
        classes=tuple(query.get("class", ())),
        severity=severity if severity in set(Severity) else "",
    )


def chosen_issues(
    issues: Sequence[Issue], selection: IssueSelection, class_of: Mapping[str, str]
) -> list[Issue]:
    """Filter issues by models and classes; severity belongs to the group."""
    return [
        issue
        for issue in issues
        if (not selection.llm_ids or issue.llm_id in selection.llm_ids)
        and (not selection.classes or class_of.get(issue.test_id, "") in selection.classes)
    ]


def chosen_tax(rows: Sequence[FormatTax], selection: IssueSelection) -> list[FormatTax]:
    """Filter rows with a format tax by models and classes."""
    return [
        row
        for row in rows
        if row.tax > 0
        and (not selection.llm_ids or row.llm_id in selection.llm_ids)
        and (not selection.classes or row.class_id in selection.classes)
    ]


LINKS = StayLinks(IssuesIds.SEARCH)
WAIT_MS = 500
SEVERITY_TEXTS = {
    Severity.HIGH: ("high", "Tests failed, or figures are not reliable."),
    Severity.MEDIUM: ("medium", "Costs score."),
    Severity.LOW: ("low", "Worth knowing."),
}


def layout(search: Search) -> Component:
    """Build the page without data, with the filters of the address."""
    selection = selection_in(search)
    filters = html.Div(
        [
            multi_choice(IssuesIds.LLMS, "Models", chosen=selection.llm_ids),
            multi_choice(IssuesIds.CLASSES, "Test classes", chosen=selection.classes),
            html.Div(id=IssuesIds.CHIPS),
        ],
        className="filter-bar",
    )
    return html.Div(
        [
            page_head("Issues", html.Span(id=IssuesIds.NOTE)),
            filters,
            card(
                "By cause",
                html.Div(loading_state(8), id=IssuesIds.GROUPS),
                note="Sorted by lost score. Each loss is charged to one cause only.",
                tools=csv_button(IssuesIds.CSV, "the issues"),
            ),
            card(
                "Format tax",
                html.Div(loading_state(3), id=IssuesIds.TAX),
                note="Score lost by correct answers in the wrong format.",
                tools=csv_button(IssuesIds.TAX_CSV, "the format tax"),
            ),
            dcc.Store(id=IssuesIds.SEARCH, data=selection.search),
            dcc.Interval(id=IssuesIds.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=IssuesIds.DOWNLOAD),
        ],
        className="page-body",
    )


def severity_chips(groups: Sequence[IssueGroup], selection: IssueSelection) -> Component:
    """Build the severity switches with the number of trials."""
    counts: Counter[Severity] = Counter()
    for group in groups:
        counts[group.severity] += group.n_trials
    members = [
        LINKS.chip(
            text,
            selection.changed(severity="" if selection.severity == severity else severity).search,
            is_active=selection.severity == severity,
            count=counts[severity],
            title=meaning,
        )
        for severity, (text, meaning) in SEVERITY_TEXTS.items()
    ]
    return chip_row("Severity", members)
