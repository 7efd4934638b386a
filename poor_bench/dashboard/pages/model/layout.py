"""Layout of the page: ids, filters of the address, cards, tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria, card, icon, loading_state, page_head
from poor_bench.dashboard.components.controls import file_buttons, image_buttons, search_box
from poor_bench.dashboard.components.grids import build_paged_table, column_chooser, view_store
from poor_bench.dashboard.result_panel.frame import build_frame
from poor_bench.dashboard.result_panel.rating_bar import build_rating_bar
from poor_bench.dashboard.url_state import GridUrl, query_field
from poor_bench.results.query import Outcome, RatingFilter, ResultQuery, SortKey
from poor_bench.results.table import TrialKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dash.development.base_component import Component


class ModelIds(StrEnum):
    """What callbacks of the page refer to."""

    LLM = "model-llm-select"
    CLASSES = "model-classes-select"
    LEVELS = "model-levels-select"
    THINKS = "model-thinks-select"
    OUTCOME = "model-outcome-switch"
    TEXT = "model-text-input"
    RATING = "model-rating-select"
    ISSUE = "model-issue-store"
    """Id of the issue that the results are limited to; empty for all."""
    ISSUE_CHIP = "model-issue-chip"
    CLEAR = "model-clear-button"
    QUERY = "model-query-store"
    """The state of all filters as a query of the address."""
    SETTLED = "model-settled-store"
    """The same once the table has its rows: what takes time to draw comes after them."""
    SORT = "model-sort-store"
    VIEW = "model-view-store"
    """Sorting of the table as AG Grid tells it."""
    NOTE = "model-note-text"
    TILES = "model-tiles-body"
    ISSUES = "model-issues-body"
    WAIT = "model-wait-interval"
    """Runs while issues that need the results of all LLMs are looked for."""
    CHART = "model-chart-body"
    CHART_GRAPH = "model-chart-graph"
    CHART_PAGE = "model-chart-pagination"
    COUNT = "model-count-text"
    RESULTS = "model-results-grid"
    RESULTS_CSV = "model-results-csv-button"
    SELECTED = "model-selected-store"
    """The trial that is asked for: `[test id, trial, is failure]`."""
    OPEN = "model-open-store"
    """The trial that the panel shows: the same, and its place in the table or None."""
    DOWNLOAD = "model-file-download"
    EMPTY = "model-empty-body"
    BODY = "model-body-container"


_SORT_KEYS = {
    "test_id": SortKey.TEST,
    "score": SortKey.SCORE,
    "test_category": SortKey.CLASS,
    "execution_time": SortKey.TIME,
    "think": SortKey.THINK,
}


@dataclass(frozen=True, kw_only=True)
class ModelUrl(GridUrl):
    """Filters of the page, and the trial that is open; `assets/model.js` writes the same."""

    LLM_FIELDS = ("llm_id",)
    llm_id: str = query_field("llm")
    classes: tuple[str, ...] = query_field("class", ())
    levels: tuple[int, ...] = query_field("level", (), kind=int)
    thinks: tuple[str, ...] = query_field("think", ())
    outcomes: tuple[Outcome, ...] = query_field("outcome", (), kind=Outcome)
    text: str = ""
    ratings: tuple[RatingFilter, ...] = query_field("rating", (), kind=RatingFilter)
    issue: str = ""
    test: str = ""
    trial: int = 1
    is_failure: bool = query_field("failed", False)

    @property
    def filters(self) -> ModelUrl:
        """The same without an open trial and the view of the table."""
        return self.without_view.change(test="", trial=1, is_failure=False)

    @property
    def selected(self) -> list[Any] | None:
        """The trial that is open, as the store of it holds it."""
        return [self.test, self.trial, self.is_failure] if self.test else None

    @property
    def query(self) -> ResultQuery:
        """What the filters find."""
        return ResultQuery(
            llm_id=self.llm_id,
            classes=frozenset(self.classes),
            levels=frozenset(self.levels),
            thinks=frozenset(self.thinks),
            outcomes=frozenset(self.outcomes),
            issue=self.issue,
            rating=next(iter(self.ratings), None),
            text=self.text.strip(),
        )


def sort_query(query: ResultQuery, sort_model: Sequence[dict[str, Any]] | None) -> ResultQuery:
    """Return a query in the order that the user chose in the table."""
    for column in sort_model or ():
        key = _SORT_KEYS.get(str(column.get("colId")))
        if key is not None:
            return replace(query, sort=key, descending=column.get("sort") == "desc")
    return query


def row_id(key: TrialKey) -> str:
    """Return the id of a row of the table."""
    return f"{key.trial}{'f' if key.is_failure else 's'}{key.test_id}"


def read_selected_key(selected: object) -> TrialKey | None:
    """Return the trial that a store holds; None where it holds none."""
    if not isinstance(selected, list) or len(selected) != 3:
        return None
    test_id, trial, is_failure = selected
    if not isinstance(test_id, str) or not isinstance(trial, int):
        return None
    return TrialKey(test_id, trial, bool(is_failure))


WAIT_MS = 1500
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


COLUMNS: tuple[dict[str, Any], ...] = (
    {
        "field": "test_id",
        "headerName": "Test ID",
        "lockVisible": True,
        "cellClass": "whole-text",
        "minWidth": 250,
        "flex": 3,
        "tooltipField": "test_id",
    },
    {"field": "score", "headerName": "Score", "cellRenderer": "Score", "width": 96},
    {
        "field": "test_category",
        "headerName": "Test Category",
        "cellClass": "whole-text",
        "minWidth": 160,
        "flex": 2,
    },
    {
        "field": "execution_time",
        "headerName": "Execution Time",
        "type": "rightAligned",
        "width": 116,
        "valueFormatter": {
            "function": "params.value == null ? '-' : d3.format(',.2f')(params.value) + ' s'"
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
        "sortable": False,
        "valueFormatter": {
            "function": "params.value == null ? '' : d3.format('.2f')(params.value)"
        },
    },
)


def layout(url: ModelUrl) -> Component:
    """Return the page without data, its filters set as the address says."""
    return html.Div(
        [
            page_head("Model", html.Span(id=ModelIds.NOTE), _llm_select(url)),
            html.Div(id=ModelIds.EMPTY),
            html.Div(
                [
                    html.Div(loading_state(2), id=ModelIds.TILES, className="tiles-frame"),
                    _filters(url),
                    _chart_card(),
                    _issues_card(),
                    _results(url),
                ],
                id=ModelIds.BODY,
                className="page-body",
            ),
            *_stores(url),
        ],
        className="page-body",
    )


def parts() -> list[Component]:
    """Return one of each component that callbacks put into the page."""
    return [dcc.Graph(id=ModelIds.CHART_GRAPH)]


def _stores(url: ModelUrl) -> list[Component]:
    query = url.filters.search if url.llm_id else None
    return [
        dcc.Store(id=ModelIds.QUERY, data=query),
        dcc.Store(id=ModelIds.SETTLED),
        dcc.Store(id=ModelIds.SORT),
        view_store(ModelIds.VIEW, url),
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
        w=440,
        leftSection=icon("model"),
        **aria(label="Model"),
    )


def _filters(url: ModelUrl) -> Component:
    return html.Div(
        [
            _multi_select(ModelIds.CLASSES, url.classes, "All classes", "Test classes"),
            _multi_select(ModelIds.LEVELS, map(str, url.levels), "All levels", "Levels"),
            _multi_select(ModelIds.THINKS, url.thinks, "Think: any", "Think"),
            dmc.SegmentedControl(
                id=ModelIds.OUTCOME,
                data=_OUTCOMES,
                value=next(iter(url.outcomes), ""),
                size="xs",
                **aria(label="Outcome"),
            ),
            search_box(
                ModelIds.TEXT,
                "Search in test ids, details and responses",
                "Search ids, details, responses",
                url.text,
            ),
            dmc.Select(
                id=ModelIds.RATING,
                value=next(iter(url.ratings), None),
                data=_RATINGS,
                placeholder="Rating: any",
                clearable=True,
                size="xs",
                **aria(label="Rating"),
            ),
            html.Div(id=ModelIds.ISSUE_CHIP),
            dmc.Button("Clear", id=ModelIds.CLEAR, size="xs", variant="subtle", color="gray"),
        ],
        className="filters",
        role="search",
        **aria(label="Filters"),
    )


def _multi_select(select_id: ModelIds, value: Iterable[str], placeholder: str, label: str) -> Any:
    return dmc.MultiSelect(
        id=select_id,
        value=list(value),
        data=[],
        placeholder=placeholder,
        clearable=True,
        size="xs",
        **aria(label=label),
    )


def _chart_card() -> Component:
    pages = dmc.Pagination(
        id=ModelIds.CHART_PAGE, total=1, value=1, size="sm", siblings=1, display="none"
    )
    return card(
        "Score by test",
        html.Div(loading_state(), id=ModelIds.CHART),
        note="Choose a bar to see its result.",
        tools=[pages, *image_buttons("Score by test")],
    )


def _issues_card() -> Component:
    return card(
        "Issues",
        html.Div(loading_state(), id=ModelIds.ISSUES),
        note="Sorted by lost score. Choose an issue to see its results.",
    )


def _results(url: ModelUrl) -> Component:
    return html.Div(
        [
            card(
                "Results",
                build_paged_table(
                    ModelIds.RESULTS, "Results", COLUMNS, view=url.view, view_id=ModelIds.VIEW
                ),
                note=html.Span(id=ModelIds.COUNT),
                tools=[
                    column_chooser(ModelIds.RESULTS),
                    file_buttons(ModelIds.RESULTS_CSV, "these results"),
                ],
            ),
            build_frame(build_rating_bar()),
        ],
        className="results-and-details",
    )
