"""The page as plain elements, which a browser shows while it loads the scripts of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.blocks import card, page_head
from poor_bench.dashboard.components.grids import choose_columns, sort_rows
from poor_bench.dashboard.components.tables import number, row, sheet
from poor_bench.dashboard.pages.overview.callbacks import leaderboard_rows, note
from poor_bench.dashboard.pages.overview.layout import LEADERBOARD_TITLE
from poor_bench.dashboard.pages.overview.tables import FIGURES, columns_for
from poor_bench.dashboard.url_state import model_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.overview.layout import OverviewUrl
    from poor_bench.dashboard.services.services import Services

_MOST_ROWS = 30
"""More than a window shows."""


def sketch(services: Services, url: OverviewUrl) -> Component | None:
    """Return head and model comparison of the page; None without results."""
    rows = leaderboard_rows(services, url)
    if not rows:
        return None
    defined = columns_for(rows, is_grouped=bool(url.grouping))
    figures = [each for each in choose_columns(defined, url) if each[0] in FIGURES]
    lines = [
        row(
            dcc.Link(line["model"], href=model_link(line["id"])),
            *(number(_text(line, field)) for field, _ in figures),
        )
        for line in sort_rows(rows, defined, url)[:_MOST_ROWS]
    ]
    heads = ["Model", *(html.Th(title, scope="col", className="number") for _, title in figures)]
    table = sheet(heads, lines, label=LEADERBOARD_TITLE)
    return html.Div(
        [
            page_head("Overview", note(services)),
            html.Span(className="first-paint-controls"),
            card(LEADERBOARD_TITLE, table),
        ],
        className="page-body",
    )


def _text(line: Mapping[str, Any], field: str) -> str:
    """Write a figure as the table does."""
    return line["texts"][field] or "-"
