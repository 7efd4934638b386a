"""The page as plain elements, which a browser shows while it loads the scripts of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import card, page_head
from poor_bench.dashboard.pages.compare.callbacks import show_strip
from poor_bench.dashboard.pages.compare.layout import OVERALL_NOTE, OVERALL_TITLE

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.compare.layout import CompareUrl
    from poor_bench.dashboard.services.services import Services


def sketch(services: Services, url: CompareUrl) -> Component | None:
    """Return head and overall comparison of the page; None without results."""
    note, table, _ = show_strip(services, url.search)
    if not note:
        return None
    parts = [
        page_head("Compare", note),
        html.Span(className="first-paint-controls"),
        card(OVERALL_TITLE, table, note=OVERALL_NOTE),
    ]
    return html.Div(parts, className="page-body")
