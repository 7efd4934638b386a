"""A block whose content is drawn again and again while its buttons stand still.

A button that is drawn anew loses the click that it was just given: only title, note and content of
such a block change, and its class says which of its buttons are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.attributes import aria

if TYPE_CHECKING:
    from dash.development.base_component import Component

ABSENT = "card is-absent"
"""The class of a block that has nothing to show."""


def live_card(label: str, *, frame_id: str, head_id: str, body_id: str, tools: Any) -> Component:
    """Return a block that is hidden until callbacks fill it.

    Args:
        label: What it is, for screen readers.
        frame_id: Id of the block; callbacks set its class.
        head_id: Id of what `live_head` goes into.
        body_id: Id of what the content goes into.
        tools: Buttons at the right of the heading.
    """
    head = html.Div(
        [html.Div(id=head_id), html.Div(tools, className="card-tools")], className="card-head"
    )
    return html.Section(
        [head, html.Div(id=body_id)], id=frame_id, className=ABSENT, **aria(label=label)
    )


def live_head(title: str, note: str) -> list[Component]:
    """Return the heading of a block, and the quiet line below it."""
    return [html.H2(title), html.P(note, className="card-note")]
