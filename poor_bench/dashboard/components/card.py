"""A titled block of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.attributes import aria

if TYPE_CHECKING:
    from dash.development.base_component import Component


def card(
    title: str, *children: Any, tools: Any = None, note: Any = None, class_name: str = ""
) -> Component:
    """Return a block with a heading.

    Args:
        title: The heading.
        children: What stands in the block.
        tools: Buttons and switches at the right of the heading.
        note: One quiet sentence below the heading: what the block shows, how to read it.
        class_name: Further CSS class.
    """
    return html.Section(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H2(title),
                            html.P(note, className="card-note") if note is not None else None,
                        ]
                    ),
                    html.Div(tools, className="card-tools") if tools is not None else None,
                ],
                className="card-head",
            ),
            *children,
        ],
        className=f"card {class_name}".strip(),
        **aria(label=title),
    )


def page_head(title: str, note: Any = None, tools: Any = None) -> Component:
    """Return the head of a page: its name, one line about its content, its main buttons."""
    return html.Div(
        [
            html.Div([html.H1(title), html.Div(note, className="page-note")]),
            html.Div(tools, className="page-tools") if tools is not None else None,
        ],
        className="page-head",
    )
