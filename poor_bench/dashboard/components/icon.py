"""Icons: files in `assets/icons`, drawn in the colour of the text around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.attributes import aria

if TYPE_CHECKING:
    from dash.development.base_component import Component


def icon(name: str) -> Component:
    """Return an icon that screen readers pass over; `assets/icons.css` knows the names."""
    return html.Span(className=f"icon icon-{name}", **aria(hidden="true"))
