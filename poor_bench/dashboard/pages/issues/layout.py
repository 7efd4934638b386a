"""The page without its data, and its filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.buttons import csv_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.choice import multi_choice
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.pages.issues.ids import IssuesIds as Ids
from poor_bench.dashboard.pages.issues.selection import IssueSelection, selection_in
from poor_bench.issues.detector import IssueGroup, Severity

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

LINKS = StayLinks(Ids.SEARCH)
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
            multi_choice(Ids.LLMS, "Models", chosen=selection.llm_ids),
            multi_choice(Ids.CLASSES, "Test classes", chosen=selection.classes),
            html.Div(id=Ids.CHIPS),
        ],
        className="filter-bar",
    )
    return html.Div(
        [
            page_head("Issues", html.Span(id=Ids.NOTE)),
            filters,
            card(
                "By cause",
                html.Div(loading_state(8), id=Ids.GROUPS),
                note="Sorted by lost score. Each loss is charged to one cause only.",
                tools=csv_button(Ids.CSV, "the issues"),
            ),
            card(
                "Format tax",
                html.Div(loading_state(3), id=Ids.TAX),
                note="Score lost by correct answers in the wrong format.",
                tools=csv_button(Ids.TAX_CSV, "the format tax"),
            ),
            dcc.Store(id=Ids.SEARCH, data=selection.search),
            dcc.Interval(id=Ids.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=Ids.DOWNLOAD),
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
