"""The mark of an LLM among those that are compared: a colour and a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.theme import ink_on_series, series_style

if TYPE_CHECKING:
    from dash.development.base_component import Component


def llm_mark(number: int) -> Component:
    """Return the mark of the LLM at a place from 0; it repeats its number for who sees no colour.

    Example:
        >>> llm_mark(0).children
        '1'
    """
    color, _ = series_style(number)
    style = {"--mark-color": color, "--mark-ink": ink_on_series(number)}
    return html.Span(str(number + 1), className="llm-mark", style=style, **aria(hidden="true"))
