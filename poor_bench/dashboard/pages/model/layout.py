"""The page without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import csv_button, image_buttons
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.components.table import paged_table
from poor_bench.dashboard.links import write_search
from poor_bench.dashboard.pages.model.details_panel import panel
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.pages.model.query import FILTERS, first
from poor_bench.dashboard.pages.model.results import COLUMNS
from poor_bench.dashboard.services.result_query import Outcome

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

WAIT_MS = 1500
_OUTCOMES = [
    {"value": "", "label": "All"},
    {"value": Outcome.PASSED.value, "label": "Passed"},
    {"value": Outcome.NOT_PASSED.value, "label": "Not passed"},
    {"value": Outcome.FAILED_TO_RUN.value, "label": "Failed to run"},
]


def layout(search: Search) -> Component:
    """Return the page without data, its filters set as the address says."""
    return html.Div(
        [
            page_head("Model", html.Span(id=Ids.NOTE), _llm_select(search)),
            html.Div(id=Ids.EMPTY),
            html.Div(
                [
                    html.Div(loading_state(2), id=Ids.TILES, className="tiles-frame"),
                    _filters(search),
                    _chart_card(),
                    _issues_card(),
                    _results(),
                ],
                id=Ids.BODY,
                className="page-body",
            ),
            *_stores(search),
        ],
        className="page-body",
    )


def parts() -> list[Component]:
    """Return one of each component that callbacks put into the page."""
    return [dcc.Graph(id=Ids.CHART_GRAPH)]


def _stores(search: Search) -> list[Component]:
    filters = {name: search[name] for name in FILTERS if name in search}
    query = write_search(filters) if "llm" in filters else None
    return [
        dcc.Store(id=Ids.QUERY, data=query),
        dcc.Store(id=Ids.SETTLED),
        dcc.Store(id=Ids.SORT),
        dcc.Store(id=Ids.ISSUE, data=first(search, "issue")),
        dcc.Store(id=Ids.SELECTED, data=_selected(search)),
        dcc.Store(id=Ids.OPEN),
        dcc.Interval(id=Ids.WAIT, interval=WAIT_MS, disabled=True),
        dcc.Download(id=Ids.DOWNLOAD),
    ]


def _selected(search: Search) -> list[Any] | None:
    test_id, trial = first(search, "test"), first(search, "trial")
    is_failure = first(search, "failed") == "1"
    return [test_id, int(trial) if trial.isdecimal() else 1, is_failure] if test_id else None


def _llm_select(search: Search) -> Any:
    return dmc.Select(
        id=Ids.LLM,
        value=first(search, "llm") or None,
        data=[],
        searchable=True,
        allowDeselect=False,
        nothingFoundMessage="Model not found",
        placeholder="Choose a model",
        maxDropdownHeight=420,
        w=440,
        leftSection=icon("model"),
        **aria(label="Model"),
    )


def _filters(search: Search) -> Component:
    return html.Div(
        [
            _multi_select(Ids.CLASSES, search.get("class", []), "All classes", "Test classes"),
            _multi_select(Ids.LEVELS, search.get("level", []), "All levels", "Levels"),
            _multi_select(Ids.THINKS, search.get("think", []), "Think: any", "Think"),
            dmc.SegmentedControl(
                id=Ids.OUTCOME,
                data=_OUTCOMES,
                value=first(search, "outcome"),
                size="xs",
                **aria(label="Outcome"),
            ),
            dmc.TextInput(
                id=Ids.TEXT,
                value=first(search, "text"),
                placeholder="Search ids, details, responses",
                leftSection=icon("search"),
                debounce=100,
                size="xs",
                className="filter-wide",
                **aria(label="Search in test ids, details and responses"),
            ),
            html.Div(id=Ids.ISSUE_CHIP),
            dmc.Button("Clear", id=Ids.CLEAR, size="xs", variant="subtle", color="gray"),
        ],
        className="filters",
        role="search",
        **aria(label="Filters"),
    )


def _multi_select(select_id: Ids, value: list[str], placeholder: str, label: str) -> Any:
    return dmc.MultiSelect(
        id=select_id,
        value=value,
        data=[],
        placeholder=placeholder,
        clearable=True,
        size="xs",
        **aria(label=label),
    )


def _chart_card() -> Component:
    pages = dmc.Pagination(
        id=Ids.CHART_PAGE, total=1, value=1, size="sm", siblings=1, display="none"
    )
    return card(
        "Score by test",
        html.Div(loading_state(), id=Ids.CHART),
        note="Choose a bar to see its result.",
        tools=[pages, *image_buttons("Score by test")],
    )


def _issues_card() -> Component:
    return card(
        "Issues",
        html.Div(loading_state(), id=Ids.ISSUES),
        note="Sorted by lost score. Choose an issue to see its results.",
    )


def _results() -> Component:
    return html.Div(
        [
            card(
                "Results",
                paged_table(Ids.RESULTS, "Results", COLUMNS),
                note=html.Span(id=Ids.COUNT),
                tools=csv_button(Ids.RESULTS_CSV, "these results"),
            ),
            panel(),
        ],
        className="results-and-details",
    )
