"""The page without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.card import page_head

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search


def layout(_search: Search) -> Component:
    """Return the page without data."""
    return html.Div(page_head("Model"), className="page-body")
