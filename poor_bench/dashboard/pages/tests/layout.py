"""The page without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import csv_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.pages.tests.ids import TestsIds as Ids
from poor_bench.dashboard.pages.tests.selection import selection_in

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

WAIT_MS = 500


def layout(search: Search) -> Component:
    """Return the page without data, its filters set as the address says."""
    selection = selection_in(search)
    search_box = dmc.TextInput(
        id=Ids.TEXT,
        value=selection.text,
        placeholder="Search ids and texts",
        leftSection=icon("search"),
        debounce=100,
        size="xs",
        **aria(label="Search in ids and texts"),
    )
    return html.Div(
        [
            page_head("Tests", html.Span(id=Ids.NOTE)),
            card(
                "Classes",
                html.Div(loading_state(3), id=Ids.CLASSES),
                note="Choose a class to filter the tests. Difficulty is 1 minus the mean score.",
                tools=csv_button(Ids.CLASSES_CSV, "the classes"),
            ),
            html.Div(
                [
                    card(
                        "Tests",
                        html.Div(id=Ids.CHIPS, className="chip-rows"),
                        html.Div(loading_state(6), id=Ids.LISTED),
                        note="Choose a test to read its prompt or edit it.",
                        tools=[search_box, csv_button(Ids.CSV, "these tests")],
                    ),
                    html.Aside(id=Ids.DETAILS, className="details", **aria(label="Test")),
                ],
                className="results-and-details",
            ),
            dcc.Store(id=Ids.SEARCH, data=selection.search),
            dcc.Interval(id=Ids.WAIT, interval=WAIT_MS, disabled=True),
            dcc.Download(id=Ids.DOWNLOAD),
        ],
        className="page-body",
    )
