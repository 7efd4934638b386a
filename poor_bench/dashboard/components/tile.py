"""A figure with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

if TYPE_CHECKING:
    from dash.development.base_component import Component


def tile(name: str, figure: str, note: str = "", *, is_warning: bool = False) -> Component:
    """Return one figure large, with its name above and a quiet note below."""
    return html.Div(
        [
            html.Dt(name),
            html.Dd(figure, className="tile-figure is-warning" if is_warning else "tile-figure"),
            html.Dd(note, className="tile-note") if note else None,
        ],
        className="tile",
    )


def tiles(*children: Component) -> Component:
    """Return figures in a row that wraps."""
    return html.Dl(list(children), className="tiles")
