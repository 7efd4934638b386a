"""The page as plain elements, which a browser shows while it loads the scripts of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import page_head
from poor_bench.dashboard.pages.model.callbacks import note, tiles

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.model.url import ModelUrl
    from poor_bench.dashboard.services.services import Services


def sketch(services: Services, url: ModelUrl) -> Component | None:
    """Return head and figures of the page; None without results, or for an unknown model."""
    shown = tiles(services, url.filters.search) if url.llm_id and not url.unknown else None
    if shown is None:
        return None
    strip = html.Div(html.Div(shown, className="tiles-frame"), className="model-strip")
    return html.Div([page_head("Model", note(services, url.llm_id)), strip], className="page-body")
