"""The page without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import csv_button, start_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.choice import count_choice
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.pages.run.failures import failures_frame
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.pages.run.progress import run_frame
from poor_bench.dashboard.pages.run.selection import MOST_TRIALS

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

CLOCK_MS = 1000


def layout(search: Search) -> Component:
    """Return the page without data, its choice set as the address says."""
    return html.Div(
        [
            page_head("Run", "Runs continue if you close the browser."),
            html.Div(id=Ids.SANDBOX),
            run_frame(),
            card(
                "Selection",
                _choice(search),
                note="Leave empty to run all pending tests on all enabled models.",
                tools=dmc.Button(
                    "All pending", id=Ids.ALL, variant="default", size="compact-sm", n_clicks=0
                ),
            ),
            card(
                "Plan",
                html.Div(loading_state(3), id=Ids.PREVIEW),
                tools=[csv_button(Ids.PREVIEW_CSV, "the plan"), start_button(Ids.START)],
            ),
            failures_frame(),
            dcc.Download(id=Ids.DOWNLOAD),
            dcc.Interval(id=Ids.CLOCK, interval=CLOCK_MS, disabled=True),
        ],
        className="page-body",
    )


def _choice(search: Search) -> Component:
    return html.Div(
        [
            _select(Ids.LLMS, "Models", "All enabled models", search.get("llm", []), "choice-wide"),
            _select(Ids.CLASSES, "Test classes", "All classes", search.get("class", [])),
            _select(Ids.LEVELS, "Levels", "All levels", search.get("level", [])),
            dmc.TextInput(
                id=Ids.TESTS,
                label="Tests",
                placeholder="All tests, or ids such as math_*",
                value=" ".join(search.get("test", [])),
                debounce=400,
            ),
            count_choice(Ids.TRIALS, "Trials per test", most=MOST_TRIALS),
            dmc.Switch(id=Ids.FORCE, label="Re-run completed tests", checked=False, mt=30),
        ],
        className="choice",
        role="form",
        **aria(label="Selection"),
    )


def _select(
    select_id: Ids, label: str, placeholder: str, value: list[str], class_name: str = ""
) -> Any:
    return dmc.MultiSelect(
        id=select_id,
        label=label,
        placeholder=placeholder,
        value=value,
        data=[],
        clearable=True,
        searchable=True,
        hidePickedOptions=True,
        className=class_name,
    )
