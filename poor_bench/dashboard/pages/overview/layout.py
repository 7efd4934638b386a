"""Layout of the page: cards, charts, and changes since the last run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import dash_mantine_components as dmc
import plotly.graph_objects as go
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.badges import latency_key
from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    chart,
    data,
    empty_state,
    loading_state,
    page_head,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    build_saved_views,
    file_buttons,
    image_buttons,
    multi_choice,
    search_box,
)
from poor_bench.dashboard.components.grids import (
    PAGE_SIZES,
    column_chooser,
    small_table,
    view_store,
)
from poor_bench.dashboard.figures.frontier import FrontierPoint, frontier_figure
from poor_bench.dashboard.figures.scores import score_trend_figure
from poor_bench.dashboard.pages.overview.tables import COLUMNS, GROUPINGS, TOPS
from poor_bench.dashboard.services.past_runs import RunScore
from poor_bench.dashboard.url_state import GridUrl, compare_link, query_field, run_link
from poor_bench.messages import write_count
from poor_bench.prompts import hash_text


class OverviewIds(StrEnum):
    """What callbacks of the page refer to."""

    EMPTY = "overview-empty-body"
    BODY = "overview-body-container"
    NOTE = "overview-note-text"
    FILTERS = "overview-filters-container"
    TEXT = "overview-text-input"
    GROUPING = "overview-grouping-switch"
    TOP = "overview-top-switch"
    COMPARE = "overview-compare-button"
    CLASSES = "overview-classes-select"
    SEARCH = "overview-search-store"
    VIEW = "overview-view-store"
    LEADERBOARD = "overview-leaderboard-grid"
    LEADERBOARD_BODY = "overview-leaderboard-body"
    LEADERBOARD_NOTES = "overview-leaderboard-notes"
    LEADERBOARD_FRAME = "overview-frame-store"
    """Changes where the table has to be drawn anew, not only filled with other rows."""
    LEADERBOARD_CSV = "overview-leaderboard-csv-button"
    HEAT_MAP = "overview-heat-map-body"
    HEAT_MAP_LEVELS = "overview-heat-map-levels-switch"
    HEAT_MAP_CSV = "overview-heat-map-csv-button"
    CHANGES = "overview-changes-body"
    CHARTS = "overview-charts-body"
    BELOW = "overview-below-store"
    """The query that charts show: they follow the model comparison."""
    CHARTS_SEEN = "overview-charts-seen-store"
    TREND = "overview-trend-body"
    TREND_WAIT = "overview-trend-interval"
    DOWNLOAD = "overview-file-download"


LEADERBOARD_TITLE = "Model comparison"
LINKS = StayLinks(OverviewIds.SEARCH)
WAIT_MS = 1500


@dataclass(frozen=True, kw_only=True)
class OverviewUrl(GridUrl):
    """Which models the page shows, and how."""

    STEPS = frozenset({"column_page"})
    text: str = ""
    """Words that ids or names of models have."""
    grouping: str = query_field("group")
    """A key of `GROUPINGS`."""
    top: str = ""
    """A key of `TOPS`: models with a line in the tables and a point in the charts."""
    detail: str = query_field("heat-map")
    """"levels" for a column per class and level."""
    classes: tuple[str, ...] = query_field("class", ())
    """Test classes of the heat map; none means all."""
    column_page: int = query_field("class-page", 1)
    """Which columns of the heat map are shown, where they are many."""


def layout(url: OverviewUrl) -> Component:
    """Build the page without data, its controls set as the address says."""
    return html.Div(
        [
            page_head("Overview", html.Span(id=OverviewIds.NOTE), build_saved_views()),
            html.Div(id=OverviewIds.EMPTY),
            _filters(url),
            html.Div(_cards(url), id=OverviewIds.BODY, className="page-body"),
            dcc.Store(id=OverviewIds.SEARCH, data=url.without_view.search),
            dcc.Store(id=OverviewIds.BELOW, data=url.without_view.search),
            view_store(OverviewIds.VIEW, url),
            dcc.Store(id=OverviewIds.LEADERBOARD_FRAME),
            dcc.Store(id=OverviewIds.CHARTS_SEEN),
            dcc.Download(id=OverviewIds.DOWNLOAD),
        ],
        className="page-body",
    )


def _filters(url: OverviewUrl) -> Component:
    return html.Div(
        [
            search_box(OverviewIds.TEXT, "Search", "Search", url.text),
            _select(OverviewIds.GROUPING, GROUPINGS, url.grouping, "Group"),
            _select(OverviewIds.TOP, TOPS, url.top, "Models"),
        ],
        id=OverviewIds.FILTERS,
        className="filters",
        role="search",
        **aria(label="Models"),
    )


def _select(
    select_id: OverviewIds, options: Mapping[str, str], chosen: str, label: str
) -> Component:
    select: Component = dmc.SegmentedControl(
        id=select_id,
        data=[{"value": value, "label": text} for value, text in options.items()],
        value=chosen if chosen in options else "",
        size="xs",
        **aria(label=label),
    )
    return select


_FEWEST_COMPARED = 2


def compare_button(llm_ids: Sequence[str]) -> Component:
    """Build the link that compares ticked models; without two of them it says what to do."""
    if len(llm_ids) < _FEWEST_COMPARED:
        return html.Span(
            "Compare",
            className="choose-button is-off",
            title="Select two models.",
            **aria(disabled="true"),
        )
    return dcc.Link(
        f"Compare ({len(llm_ids):,})",
        href=compare_link(llm_ids),
        className="choose-button",
    )


def _cards(url: OverviewUrl) -> list[Component]:
    levels = dmc.SegmentedControl(
        id=OverviewIds.HEAT_MAP_LEVELS,
        data=[{"value": "", "label": "Classes"}, {"value": "levels", "label": "Levels"}],
        value=url.detail,
        size="xs",
        **aria(label="Columns"),
    )
    return [
        card(
            LEADERBOARD_TITLE,
            html.Div(
                [loading_state(6), _early_table()],
                id=OverviewIds.LEADERBOARD_BODY,
            ),
            html.Div(id=OverviewIds.LEADERBOARD_NOTES),
            note="95 % CI",
            tools=[
                html.Span(compare_button([]), id=OverviewIds.COMPARE),
                column_chooser(OverviewIds.LEADERBOARD),
                file_buttons(OverviewIds.LEADERBOARD_CSV),
            ],
        ),
        card(
            "Score by class",
            html.Div(loading_state(6), id=OverviewIds.HEAT_MAP),
            tools=[
                multi_choice(
                    OverviewIds.CLASSES,
                    "Classes",
                    chosen=url.classes,
                    placeholder="All classes",
                    is_named=False,
                ),
                levels,
                file_buttons(OverviewIds.HEAT_MAP_CSV),
            ],
        ),
        html.Div(id=OverviewIds.CHANGES),
        html.Div(
            loading_state(6),
            id=OverviewIds.CHARTS,
            className="chart-row",
            **data(seen_store=OverviewIds.CHARTS_SEEN),
        ),
        html.Div(id=OverviewIds.TREND),
        dcc.Interval(id=OverviewIds.TREND_WAIT, interval=WAIT_MS, disabled=True),
    ]


def _early_table() -> Component:
    """Build a hidden table, so that the browser loads its script while the figures are made."""
    return html.Div(small_table(OverviewIds.LEADERBOARD, LEADERBOARD_TITLE, COLUMNS), hidden=True)


_TICKS: dict[str, Any] = {
    "rowSelection": {
        "mode": "multiRow", "checkboxes": True, "headerCheckbox": False,
        "enableClickSelection": False,
    },
    "selectionColumnDef": {
        "pinned": "left", "width": 42, "sortable": False, "resizable": False,
        "suppressHeaderMenuButton": True, "headerName": "Select", "headerClass": "only-heard-head",
    },
}  # fmt: skip


class Leaderboard(NamedTuple):
    """The model comparison for one state of the page."""

    columns: Sequence[Mapping[str, Any]]
    """AG Grid column definitions."""
    rows: Sequence[Mapping[str, Any]]
    """One for each model."""
    floor: Sequence[Mapping[str, Any]]
    """Grey rows below: what answers score that need no model."""
    unasked: Mapping[str, str]
    """Id and name of the enabled models without results."""
    others: Component | None
    """The line about the models that have none."""

    def draw(self, view: GridUrl) -> Component:
        """Build the table with what the address says about it."""
        return small_table(
            OverviewIds.LEADERBOARD,
            LEADERBOARD_TITLE,
            self.columns,
            rows=self.rows,
            below=self.floor,
            view=view,
            view_id=OverviewIds.VIEW,
            **_TICKS,
        )

    def notes(self) -> list[Component]:
        """Build the lines below the table."""
        parts: list[Component] = [self.others] if self.others else []
        if self.floor:
            parts.insert(0, html.P("Grey: no model needed.", className="card-note"))
        if self.unasked:
            link = run_link(llm_ids=list(self.unasked))
            run = dcc.Link("Run tests", href=link, className="trust-rerun")
            names = f"No results: {', '.join(self.unasked.values())} "
            parts.insert(0, html.P([names, run], className="card-note"))
        return [latency_key(), *parts] if any(row["latency_ms"] for row in self.rows) else parts

    def frame(self, version: str) -> str:
        """Write a text that is another one where more than the choice of rows differs."""
        is_paged = len(self.rows) > min(PAGE_SIZES)
        return hash_text(json.dumps([version, self.columns, self.floor, is_paged]))


def others_note(n_others: int, url: OverviewUrl) -> Component:
    """Say how many models are below the table, and link to the page with all of them."""
    shown_all = dcc.Link("Show all", href=f"/{url.change(top='all').search}")
    return html.P([f"{write_count(n_others, 'other')} ", shown_all], className="card-note")


def charts(
    by_size: Sequence[FrontierPoint],
    by_time: Sequence[FrontierPoint],
    n_apart: int = 0,
) -> list[Component]:
    """Build score against size and against time.

    Args:
        by_size: Models with a size.
        by_time: Models with times.
        n_apart: Models that are left out of both, as they are not comparable.
    """
    apart = f" {write_count(n_apart, 'model')} excluded: not comparable." if n_apart else ""
    size, time = "Size (B)", "Time (s)"
    sized = frontier_figure(by_size, size, is_spread=True) if by_size else None
    timed = frontier_figure(by_time, time) if by_time else None
    return [
        _chart(
            ("Score against size", by_size),
            sized,
            'Add "size" to llms.json.' if by_time else "",
            apart,
        ),
        _chart(
            ("Score against time", by_time),
            timed,
            "",
            apart,
        ),
    ]


def trend(
    trends: Mapping[str, Sequence[RunScore]], n_more: int, name_of: Callable[[str], str]
) -> Component | None:
    """Build the scores of models over their runs; None where no model has two runs.

    Args:
        trends: Model to its scores, oldest run first.
        n_more: Models with two runs or more that have no line.
        name_of: LLM id to what screens call it.
    """
    if not trends:
        return None
    title = "Score over runs"
    more = f" {write_count(n_more, 'model')} not shown; search." if n_more else ""
    if len({each.n_tests for scores in trends.values() for each in scores}) > 1:
        more = f" Hollow: not all tests.{more}"
    texts = (
        f"{name_of(llm_id)}: {', '.join(_describe_run(each) for each in scores)}"
        for llm_id, scores in trends.items()
    )
    return card(
        title,
        chart(score_trend_figure(trends, name_of), f"{title}. {'; '.join(texts)}"),
        note=f"Newest runs, 95 % CI.{more}",
        tools=image_buttons(title),
    )


def _describe_run(score: RunScore) -> str:
    return f"{metrics.score_text(score.score.value)} ({score.score.basis})"


def _chart(
    shown: tuple[str, Sequence[FrontierPoint]],
    figure: go.Figure | None,
    missing: str,
    further: str,
) -> Component:
    title, points = shown
    return card(
        title,
        chart(figure, _description(title, points), class_name="frontier")
        if figure
        else empty_state("No data", missing),
        note=f"Efficient frontier: no model to the left scores as high.{further}",
        tools=image_buttons(title) if points else None,
    )


def _description(title: str, points: Sequence[FrontierPoint]) -> str:
    values = (f"{point.name}: {point.score.value:.2f} ({point.score.basis}) at {point.x:.3g}"
              for point in points)  # fmt: skip
    return f"{title}. {'; '.join(values)}"
