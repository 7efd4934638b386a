"""Tables of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import html

if TYPE_CHECKING:
    from dash.development.base_component import Component


def sheet(heads: Sequence[str], rows: Sequence[Component]) -> Component:
    """Build a table that scrolls sideways."""
    head = html.Thead(html.Tr([html.Th(text, scope="col") for text in heads]))
    table = html.Table([head, html.Tbody(list(rows))], className="sheet")
    return html.Div(table, className="sheet-frame", tabIndex="0")


def row(head: str, *cells: str, class_name: str = "") -> Component:
    """Build a row; figures are aligned right."""
    shown = [
        html.Td(cell, className="number" if cell.lstrip("+-")[:1].isdigit() else None)
        for cell in cells
    ]
    return html.Tr([html.Th(head, scope="row"), *shown], className=class_name or None)
