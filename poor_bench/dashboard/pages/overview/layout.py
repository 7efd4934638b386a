"""The page without its data, and the parts that fill it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria, data
from poor_bench.dashboard.components.buttons import csv_button, image_buttons
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.states import empty_state, loading_state
from poor_bench.dashboard.components.table import small_table
from poor_bench.dashboard.figures.frontier import Point, frontier_figure
from poor_bench.dashboard.figures.style import graph_config
from poor_bench.dashboard.pages.overview.ids import OverviewIds as Ids
from poor_bench.dashboard.pages.overview.leaderboard import COLUMNS
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search


def layout(_search: Search) -> Component:
    """Return the page without data."""
    return html.Div(
        [
            page_head("Overview", html.Span(id=Ids.NOTE)),
            html.Div(id=Ids.EMPTY),
            html.Div(_cards(), id=Ids.BODY, className="page-body"),
            dcc.Store(id=Ids.CHARTS_SEEN),
            dcc.Download(id=Ids.DOWNLOAD),
        ],
        className="page-body",
    )


def _cards() -> list[Component]:
    levels = dmc.SegmentedControl(
        id=Ids.HEAT_MAP_LEVELS,
        data=[{"value": "", "label": "Classes"}, {"value": "levels", "label": "With levels"}],
        value="",
        size="xs",
        **aria(label="Detail of the heat map"),
    )
    return [
        card(
            "Model comparison",
            html.Div(
                [loading_state(6), _early_table()],
                id=Ids.LEADERBOARD_BODY,
            ),
            note="Sorted by score, with 95 % confidence intervals.",
            tools=csv_button(Ids.LEADERBOARD_CSV, "the model comparison"),
        ),
        card(
            "Score by test class",
            html.Div(loading_state(6), id=Ids.HEAT_MAP),
            note="Choose a cell to see the results behind it.",
            tools=[levels, csv_button(Ids.HEAT_MAP_CSV, "the scores by class")],
        ),
        html.Div(id=Ids.CHANGES),
        html.Div(
            loading_state(6),
            id=Ids.CHARTS,
            className="chart-row",
            **data(seen_store=Ids.CHARTS_SEEN),
        ),
    ]


def _early_table() -> Component:
    """Return a hidden table, so that the browser loads its script while the figures are made."""
    return html.Div(small_table(Ids.LEADERBOARD, "Model comparison", COLUMNS), hidden=True)


def leaderboard(
    columns: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    apart: Sequence[str] = (),
) -> Component:
    """Return the model comparison table.

    Args:
        columns: AG Grid column definitions.
        rows: One for each model.
        apart: Sentences about models that are not comparable; they stand above the table.
    """
    table = small_table(Ids.LEADERBOARD, "Model comparison", columns, rows=rows)
    if not apart:
        return table
    warnings = html.Ul([html.Li(sentence) for sentence in apart], className="is-warning")
    return html.Div([warnings, table])


def nothing_yet() -> Component:
    """Return what stands in the place of the table before the first run."""
    return empty_state(
        "No results yet",
        "Run the tests to compare models here.",
        dcc.Link("Run tests", href="/run", className="button-link"),
    )


def charts(by_size: Sequence[Point], by_time: Sequence[Point], n_apart: int = 0) -> list[Component]:
    """Return score against size and against time; `n_apart` models are left out of both."""
    apart = f" {counted(n_apart, 'model')} excluded: not comparable." if n_apart else ""
    return [
        _chart(
            "Score against size",
            by_size,
            "size (billions of parameters)",
            'No scored model has a size. Add "size" in llms.json.',
            apart,
        ),
        _chart(
            "Score against time",
            by_time,
            "median time (s)",
            "No stored result has an execution time.",
            apart,
        ),
    ]


def _chart(
    title: str, points: Sequence[Point], x_title: str, missing: str, apart: str
) -> Component:
    return card(
        title,
        _graph(title, points, x_title) if points else empty_state("No data", missing),
        note=f"Diamonds mark the efficient frontier: no model to the left scores as high.{apart}",
        tools=image_buttons(title) if points else None,
    )


def _graph(title: str, points: Sequence[Point], x_title: str) -> Component:
    graph = dcc.Graph(
        figure=frontier_figure(points, x_title),
        config=graph_config(),
        className="chart",
    )
    return html.Div(
        graph, className="frontier", role="figure", **aria(label=_description(title, points))
    )


def _description(title: str, points: Sequence[Point]) -> str:
    values = (f"{point.name}: {point.score.value:.2f} at {point.x:.3g}" for point in points)
    return f"{title}. {'; '.join(values)}"
