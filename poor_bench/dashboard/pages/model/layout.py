"""Layout of the page: a strip of figures and the filters, results beside their panel, scores."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    data,
    icon,
    loading_state,
    page_head,
    warning_banner,
)
from poor_bench.dashboard.components.controls import (
    file_buttons,
    image_buttons,
    range_boxes,
    search_box,
)
from poor_bench.dashboard.components.grids import build_paged_table, column_chooser, view_store
from poor_bench.dashboard.pages.model.url import ModelUrl
from poor_bench.dashboard.result_panel.frame import build_frame
from poor_bench.dashboard.result_panel.rating_bar import build_rating_bar
from poor_bench.results.query import Outcome, RatingFilter


class ModelIds(StrEnum):
    """What callbacks of the page refer to."""

    LLM = "model-llm-select"
    CLASSES = "model-classes-select"
    LEVELS = "model-levels-select"
    THINKS = "model-thinks-select"
    OUTCOME = "model-outcome-switch"
    CAUSES = "model-causes-select"
    MIN_SCORE = "model-min-score-input"
    MAX_SCORE = "model-max-score-input"
    MIN_S = "model-min-seconds-input"
    MAX_S = "model-max-seconds-input"
    STALE = "model-stale-switch"
    RATING = "model-rating-select"
    MORE = "model-more-button"
    TEXT = "model-text-input"
    ISSUE = "model-issue-store"
    """Id of the issue that the results are limited to; empty for all."""
    ISSUE_CHIP = "model-issue-chip"
    CLEAR = "model-clear-button"
    QUERY = "model-query-store"
    """The state of all filters as a query of the address."""
    SETTLED = "model-settled-store"
    """The same once the table has its rows: what takes time to draw comes after them."""
    FOLLOW = "model-follow-store"
    """Counts up when the open panel has to follow other filters or another order."""
    SORT = "model-sort-store"
    """Sorting of the table as AG Grid tells it."""
    VIEW = "model-view-store"
    """Sorting, columns and page of the table as the query of a `GridUrl`."""
    ORDER = "model-order-store"
    """Order and page of the classes, as a part of the address."""
    DRILL = "model-drill-store"
    """Class and level that were chosen in the summary, as a part of the address."""
    NOTE = "model-note-text"
    STATE = "model-state-body"
    """Why there is nothing to see, or what to know before reading the figures."""
    TILES = "model-tiles-body"
    ISSUES = "model-issues-body"
    WAIT = "model-wait-interval"
    """Runs while issues that need the results of all LLMs are looked for."""
    CHART = "model-chart-body"
    CHART_GRAPH = "model-chart-graph"
    CHART_NOTE = "model-chart-note"
    COUNT = "model-count-text"
    RESULTS = "model-results-grid"
    RESULTS_CSV = "model-results-csv-button"
    SELECTED = "model-selected-store"
    """The trial that is asked for: `[test id, trial, is failure]`."""
    OPEN = "model-open-store"
    """The trial that the panel shows: the same, and its place in the table or None."""
    DOWNLOAD = "model-file-download"
    BODY = "model-body-container"
    """Strip, filters, table and panel."""
    BELOW = "model-scores-container"


_OUTCOMES = [
    {"value": "", "label": "All"},
    {"value": Outcome.PASSED.value, "label": "Passed"},
    {"value": Outcome.NOT_PASSED.value, "label": "Not passed"},
    {"value": Outcome.FAILED_TO_RUN.value, "label": "Failed to run"},
]
_RATINGS = [
    {"value": RatingFilter.RATED.value, "label": "Rated"},
    {"value": RatingFilter.UNRATED.value, "label": "Not rated"},
    {"value": RatingFilter.DISPUTED.value, "label": "People disagree"},
]
CONTROLS = (
    ModelIds.LLM, ModelIds.CLASSES, ModelIds.LEVELS, ModelIds.THINKS, ModelIds.OUTCOME,
    ModelIds.CAUSES, ModelIds.MIN_SCORE, ModelIds.MAX_SCORE, ModelIds.MIN_S, ModelIds.MAX_S,
    ModelIds.STALE, ModelIds.RATING, ModelIds.TEXT,
)  # fmt: skip
"""Controls whose `value` is part of the query, in the order in which `assets/model.js` reads them.
"""
CLEARED: tuple[Any, ...] = ([], [], [], "", [], "", "", "", "", "", None, "")
"""Values of all but the first of them without any filter."""


def build_filters(url: ModelUrl) -> Component:
    """Build the filters as the address sets them."""
    return html.Div(
        [
            _multi_select(ModelIds.CLASSES, url.classes, "All classes", "Classes"),
            _multi_select(ModelIds.LEVELS, map(str, url.levels), "All levels", "Levels"),
            dmc.SegmentedControl(
                id=ModelIds.OUTCOME,
                data=_OUTCOMES,
                value=next(iter(url.outcomes), ""),
                size="xs",
                **aria(label="Outcome"),
            ),
            search_box(
                ModelIds.TEXT,
                "Search",
                "Search",
                url.text,
            ),
            _further(url),
            html.Div(id=ModelIds.ISSUE_CHIP),
            dmc.Button("Clear", id=ModelIds.CLEAR, size="xs", variant="subtle", color="gray"),
        ],
        className="filters",
        role="search",
        **aria(label="Filters"),
    )


def _further(url: ModelUrl) -> Component:
    """Build the button and what it opens; the browser makes the controls when they are opened."""
    target = dmc.Button("More filters", id=ModelIds.MORE, size="xs", variant="default")
    box: Component = dmc.Popover(
        [
            dmc.PopoverTarget(target),
            dmc.PopoverDropdown(
                html.Div(
                    _further_controls(url),
                    className="more-filters",
                    role="group",
                    **aria(label="More filters"),
                )
            ),
        ],
        withRoles=False,  # they would stand on a frame around the button, which has no role
        position="bottom-start",
        withArrow=False,
        shadow="md",
        trapFocus=True,
        returnFocus=True,
        closeOnEscape=True,
    )
    return box


def _further_controls(url: ModelUrl) -> list[Component]:
    return [
        range_boxes(
            "Score",
            (ModelIds.MIN_SCORE, url.min_score),
            (ModelIds.MAX_SCORE, url.max_score),
            most=1,
        ),
        range_boxes("Latency (s)", (ModelIds.MIN_S, url.min_s), (ModelIds.MAX_S, url.max_s)),
        _multi_select(ModelIds.CAUSES, url.causes, "Cause", "Cause"),
        _multi_select(ModelIds.THINKS, url.thinks, "Think", "Think"),
        dmc.SegmentedControl(
            id=ModelIds.STALE,
            data=[{"value": "", "label": "All"}, {"value": "yes", "label": "Stale"}],
            value="yes" if url.is_stale else "",
            size="xs",
            fullWidth=True,
            **aria(label="Stale"),
        ),
        dmc.Select(
            id=ModelIds.RATING,
            value=next(iter(url.ratings), None),
            data=_RATINGS,
            placeholder="Rating",
            clearable=True,
            size="xs",
            comboboxProps={"withinPortal": False},
            **aria(label="Rating"),
        ),
    ]


def _multi_select(select_id: ModelIds, value: Iterable[str], placeholder: str, label: str) -> Any:
    chosen = list(value)
    return dmc.MultiSelect(
        id=select_id,
        value=chosen,
        data=chosen,
        placeholder=placeholder,
        searchable=True,
        limit=100,
        clearable=True,
        size="xs",
        comboboxProps={"withinPortal": False} if select_id in _IN_POPOVER else None,
        **aria(label=label),
    )


_IN_POPOVER = frozenset({ModelIds.CAUSES, ModelIds.THINKS})
"""Their lists belong to the popover: a click into another portal would close it."""


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
        "valueFormatter": {
            "function": "params.data && params.data.trial > 1 ? "
            "`${params.value} · trial ${params.data.trial}` : params.value"
        },
    },
    {"field": "score", "headerName": "Score", "cellRenderer": "Score", "width": 140},
    {
        "field": "test_category",
        "headerName": "Test Category",
        "cellClass": "whole-text",
        "minWidth": 158,
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
        "cellRendererSelector": {"function": "chooseMarkdown(params)"},
        "cellClass": "details-cell",
        "minWidth": 188,
        "flex": 5,
        "sortable": False,
    },
    {"field": "think", "headerName": "Think", "width": 88},
    {
        "field": "rating",
        "headerName": "Rating",
        "headerTooltip": "Mean",
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
    """Build the page without data, its filters set as the address says."""
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
    """Build one of each component that callbacks put into the page."""
    return [dcc.Graph(id=ModelIds.CHART_GRAPH)]


def _tell_unknown(url: ModelUrl) -> Component | None:
    if not url.unknown:
        return None
    shown = f"Shown: `{url.llm_id}`, the best." if url.llm_id else ""
    return warning_banner("Unknown model", *filter(None, (url.unknown, shown)))


def _stores(url: ModelUrl) -> list[Component]:
    query = url.filters.search if url.llm_id else None
    return [
        dcc.Store(id=ModelIds.QUERY, data=query),
        dcc.Store(id=ModelIds.SETTLED),
        dcc.Store(id=ModelIds.FOLLOW),
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
        nothingFoundMessage="Unknown model",
        placeholder="Model",
        maxDropdownHeight=420,
        w="min(440px, calc(100vw - 48px))",
        leftSection=icon("model"),
        **aria(label="Model"),
    )


def _strip() -> list[Component]:
    """Build the places of figures and issues, which follow the filters."""
    return [
        html.Div(loading_state(1), id=ModelIds.TILES, className="tiles-frame"),
        html.Div(id=ModelIds.ISSUES, className="issues-frame"),
    ]


def _results(url: ModelUrl) -> Component:
    table = build_paged_table(
        ModelIds.RESULTS, "Results", COLUMNS, view=url.view, view_id=ModelIds.VIEW
    )
    files = file_buttons(ModelIds.RESULTS_CSV)
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
        tools=image_buttons("Scores"),
        class_name="scores-card",
    )
