"""Layout of the page: a strip of figures and the filters, results beside their panel, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    data,
    icon,
    loading_state,
    page_head,
    warning_banner,
)
from poor_bench.dashboard.components.controls import file_buttons, image_buttons
from poor_bench.dashboard.components.grids import build_paged_table, column_chooser, view_store
from poor_bench.dashboard.pages.model.filters import build_filters
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.dashboard.result_panel.frame import build_frame
from poor_bench.dashboard.result_panel.rating_bar import build_rating_bar

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.model.url import ModelUrl


WAIT_MS = 1500
COLUMNS: tuple[dict[str, Any], ...] = (
    {
        "field": "test_id",
        "headerName": "Test ID",
        "lockVisible": True,
        "cellClass": "whole-text",
        "minWidth": 150,
        "flex": 3,
        "tooltipField": "test_id",
    },
    {"field": "score", "headerName": "Score", "cellRenderer": "Score", "width": 140},
    {
        "field": "test_category",
        "headerName": "Test Category",
        "cellClass": "whole-text",
        "minWidth": 140,
        "flex": 2,
    },
    {
        "field": "execution_time",
        "headerName": "Execution Time",
        "type": "rightAligned",
        "width": 104,
        "valueFormatter": {
            "function": "!params.data ? '' : params.value == null ? 'n/a' : "
            "d3.format(',.2f')(params.value) + ' s'"
        },
    },
    {
        "field": "details",
        "headerName": "Details",
        "cellRenderer": "markdown",
        "cellClass": "details-cell",
        "minWidth": 200,
        "flex": 5,
        "sortable": False,
    },
    {"field": "think", "headerName": "Think", "width": 88},
    {
        "field": "rating",
        "headerName": "Rating",
        "headerTooltip": "Mean score that people give the answer",
        "type": "rightAligned",
        "width": 88,
        "hide": True,
        "sortable": False,
        "valueFormatter": {
            "function": "params.value == null ? '' : d3.format('.2f')(params.value)"
        },
    },
)
"""The specification names all that are shown at first. Where they do not fit side by side, the last
ones are hidden."""


def layout(url: ModelUrl) -> Component:
    """Return the page without data, its filters set as the address says."""
    return html.Div(
        [
            html.Div(
                [
                    page_head("Model", html.Span(id=ModelIds.NOTE), _llm_select(url)),
                    _tell_unknown(url),
                    html.Div(id=ModelIds.STATE),
                    html.Div(
                        [
                            html.Div(_strip(), className="model-strip"),
                            build_filters(url),
                            _results(url),
                            build_frame(build_rating_bar()),
                        ],
                        id=ModelIds.BODY,
                        className="results-and-details",
                    ),
                ],
                className="first-screen",
            ),
            html.Div(_scores_card(), id=ModelIds.BELOW),
            *_stores(url),
        ],
        className="page-body model-page",
    )


def parts() -> list[Component]:
    """Return one of each component that callbacks put into the page."""
    return [dcc.Graph(id=ModelIds.CHART_GRAPH)]


def _tell_unknown(url: ModelUrl) -> Component | None:
    if not url.unknown:
        return None
    shown = f"This page shows `{url.llm_id}`, the first in the ranking." if url.llm_id else ""
    return warning_banner("Unknown model", *filter(None, (url.unknown, shown)))


def _stores(url: ModelUrl) -> list[Component]:
    query = url.filters.search if url.llm_id else None
    return [
        dcc.Store(id=ModelIds.QUERY, data=query),
        dcc.Store(id=ModelIds.SETTLED),
        dcc.Store(id=ModelIds.SORT, data=url.sort_model),
        view_store(ModelIds.VIEW, url),
        dcc.Store(id=ModelIds.ORDER, data=url.order.search),
        dcc.Store(id=ModelIds.DRILL),
        dcc.Store(id=ModelIds.ISSUE, data=url.issue),
        dcc.Store(id=ModelIds.SELECTED, data=url.selected),
        dcc.Store(id=ModelIds.OPEN),
        dcc.Interval(id=ModelIds.WAIT, interval=WAIT_MS, disabled=True),
        dcc.Download(id=ModelIds.DOWNLOAD),
    ]


def _llm_select(url: ModelUrl) -> Any:
    return dmc.Select(
        id=ModelIds.LLM,
        value=url.llm_id or None,
        data=[],
        searchable=True,
        allowDeselect=False,
        nothingFoundMessage="Model not found",
        placeholder="Choose a model",
        maxDropdownHeight=420,
        w="min(440px, calc(100vw - 48px))",
        leftSection=icon("model"),
        **aria(label="Model"),
    )


def _strip() -> list[Component]:
    """Return the places of figures and issues, which follow the filters."""
    return [
        html.Div(loading_state(1), id=ModelIds.TILES, className="tiles-frame"),
        html.Div(id=ModelIds.ISSUES, className="issues-frame"),
    ]


def _results(url: ModelUrl) -> Component:
    table = build_paged_table(
        ModelIds.RESULTS, "Results", COLUMNS, height="100%", view=url.view, view_id=ModelIds.VIEW
    )
    files = file_buttons(ModelIds.RESULTS_CSV, "these results")
    return card(
        "Results",
        table,
        note=html.Span(id=ModelIds.COUNT),
        tools=[column_chooser(ModelIds.RESULTS), files],
        class_name="results-card",
    )


def _scores_card() -> Component:
    return card(
        "Scores",
        html.Div(loading_state(), id=ModelIds.CHART, **data(discards="")),
        note=html.Span(id=ModelIds.CHART_NOTE),
        tools=image_buttons("Score by test"),
        class_name="scores-card",
    )
