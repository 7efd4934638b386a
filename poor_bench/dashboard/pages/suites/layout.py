"""Layout of the page, without data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.buttons import csv_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.states import empty_state, loading_state
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.pages.suites.ids import SuitesIds as Ids
from poor_bench.dashboard.pages.suites.selection import SuiteSelection, selection_in

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

LINKS = StayLinks(Ids.SEARCH)


def layout(search: Search) -> Component:
    """The page without data."""
    return html.Div(
        [
            page_head("Suites", html.Span(id=Ids.NOTE)),
            html.Div(html.Div(id=Ids.CHIPS), className="filter-bar"),
            html.Div(loading_state(2), id=Ids.TILES, className="tiles-frame"),
            card(
                "Cases",
                html.Div(loading_state(6), id=Ids.CASES),
                note="Choose a case to replay it. Rates exclude cases that could not be run.",
                tools=csv_button(Ids.CASES_CSV, "the cases"),
            ),
            html.Div(id=Ids.TAGS),
            html.Div(id=Ids.TRENDS),
            card(
                "Runs",
                html.Div(loading_state(3), id=Ids.RUNS),
                note="Choose a run to show its cases. The newest comes first.",
                tools=csv_button(Ids.RUNS_CSV, "the runs"),
                class_name="suite-runs if-filled",
            ),
            html.Div(loading_state(6), id=Ids.REPLAY),
            dcc.Store(id=Ids.SEARCH, data=selection_in(search).search),
            dcc.Download(id=Ids.DOWNLOAD),
        ],
        className="page-body",
    )


def suite_chips(suites: Sequence[str], chosen: str) -> Component | None:
    """Switches between suites; None with only one."""
    if len(suites) < 2:
        return None
    members = [
        LINKS.chip(name, SuiteSelection(suite=name).search, is_active=name == chosen)
        for name in suites
    ]
    return chip_row("Suite", members)


def no_runs() -> Component:
    """Content before the first run."""
    return empty_state(
        "No runs yet",
        "Suites test agents on tasks in a real browser. The example suite needs no model: "
        + next_command("suite run example"),
    )
