"""The page without its data, and its filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.addresses import toggled
from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import csv_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.choice import multi_choice
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.states import empty_state, loading_state
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.pages.compare.ids import CompareIds as Ids
from poor_bench.dashboard.pages.compare.selection import CompareSelection, selection_in
from poor_bench.dashboard.services.grid_filter import GridOrder, Show

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

WAIT_MS = 500
_LINKS = StayLinks(Ids.SEARCH)
_SHOW = {
    Show.ALL: ("All", "All tests"),
    Show.DIFFERENCES: ("Differences", "The models have different scores"),
    Show.REGRESSIONS: ("Regressions", "At least one model scored lower than the baseline"),
    Show.IMPROVEMENTS: ("Improvements", "At least one model scored higher than the baseline"),
    Show.TIES: ("Ties", "All models have the same score"),
    Show.UNSTABLE: ("Unstable", "Trials of the same model have different scores"),
    Show.FORMAT: ("Format only", "The answer is correct, its format is not"),
    Show.FAILED: ("Failed to run", "At least one trial has no score"),
}
_ORDER = {
    GridOrder.FILE: "File order",
    GridOrder.DROP: "Largest loss",
    GridOrder.GAIN: "Largest gain",
    GridOrder.HARDEST: "Hardest",
}


def layout(search: Search) -> Component:
    """Return the page without data, its controls set as the address says."""
    selection = selection_in(search)
    return html.Div(
        [
            page_head("Compare", html.Span(id=Ids.NOTE)),
            html.Div(
                multi_choice(
                    Ids.LLMS,
                    "Models to compare",
                    chosen=selection.llm_ids,
                    placeholder="Default: the best three",
                ),
                className="filter-bar is-wide",
            ),
            card(
                "Overall",
                html.Div(loading_state(3), id=Ids.STRIP),
                note="Differences use tests both models completed. Significance is corrected for "
                "all pairs shown.",
                tools=csv_button(Ids.STRIP_CSV, "the comparison"),
            ),
            card(
                "By test class",
                html.Div(loading_state(3), id=Ids.CLASSES),
                note="Score and difference from the baseline; bold is significant, not corrected.",
                tools=csv_button(Ids.CLASSES_CSV, "the scores by class"),
                class_name="if-filled",
            ),
            _tests_card(selection),
            dcc.Store(id=Ids.SEARCH, data=selection.search),
            dcc.Interval(id=Ids.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=Ids.DOWNLOAD),
        ],
        className="page-body",
    )


def _tests_card(selection: CompareSelection) -> Component:
    search_box = dmc.TextInput(
        id=Ids.TEXT,
        value=selection.text,
        placeholder="Search tests and responses",
        leftSection=icon("search"),
        debounce=100,
        size="xs",
        className="filter-wide",
        **aria(label="Search in tests and responses"),
    )
    return html.Div(
        [
            card(
                "By test",
                html.Div(id=Ids.CHIPS, className="chip-rows"),
                html.Div(loading_state(6), id=Ids.TESTS),
                note="Choose a test to read and compare the answers.",
                tools=[search_box, csv_button(Ids.TESTS_CSV, "these tests")],
                class_name="if-filled",
            ),
            html.Aside(id=Ids.DETAILS, className="details", **aria(label="Test")),
        ],
        className="results-and-details",
    )


def filter_chips(
    counts: Mapping[Show, int], levels: Sequence[int], selection: CompareSelection
) -> list[Component]:
    """Return the switches above the tests.

    Args:
        counts: How many tests each kind shows under the other filters.
        levels: Levels of all tests.
        selection: State of the page.
    """
    show = [
        _LINKS.chip(
            text,
            selection.changed(show=kind).search,
            is_active=selection.show is kind,
            count=counts[kind],
            title=meaning,
        )
        for kind, (text, meaning) in _SHOW.items()
        if counts[kind] or kind is selection.show
    ]
    by_level = [
        _LINKS.chip(
            str(level),
            selection.changed(
                levels=tuple(map(int, toggled(map(str, selection.levels), str(level))))
            ).search,
            is_active=level in selection.levels,
        )
        for level in levels
    ]
    order = [
        _LINKS.chip(text, selection.changed(order=kind).search, is_active=selection.order is kind)
        for kind, text in _ORDER.items()
    ]
    classes = [
        _LINKS.chip(
            f"{class_id.replace('_', ' ')} (remove)",
            selection.changed(classes=toggled(selection.classes, class_id)).search,
            is_active=True,
            title="Remove this filter",
        )
        for class_id in selection.classes
    ]
    rows = [chip_row("Show", show)]
    if classes:
        rows.append(chip_row("Class", classes))
    if len(levels) > 1:
        rows.append(chip_row("Level", by_level))
    return [*rows, chip_row("Order", order)]


def nothing_yet() -> Component:
    """Return what stands in the place of the comparison before the first run."""
    return empty_state(
        "Nothing to compare yet",
        "Run the tests with at least two models to compare them here.",
        dcc.Link("Run tests", href="/run", className="button-link"),
    )
