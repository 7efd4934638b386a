"""The frame of the result panel: head, buttons, slots that callbacks fill."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.blocks import aria, data, icon

if TYPE_CHECKING:
    from dash.development.base_component import Component


class PanelIds(StrEnum):
    """What callbacks of the panel refer to; a page has one panel."""

    TITLE = "panel-title"
    POSITION = "panel-position"
    PREVIOUS = "panel-previous-button"
    NEXT = "panel-next-button"
    CLOSE = "panel-close-button"
    BODY = "panel-body"


def build_frame(*below_head: Component) -> Component:
    """Build the panel while no result is open: it is hidden until it has a title.

    Args:
        below_head: Controls that stay when another result opens, such as the rating bar.
    """
    return html.Aside(
        [
            html.Div(
                [
                    html.Div(id=PanelIds.TITLE, className="details-title"),
                    html.Span(id=PanelIds.POSITION, className="details-position"),
                    _button(PanelIds.PREVIOUS, "previous", "Previous result (K)"),
                    _button(PanelIds.NEXT, "next", "Next result (J)"),
                    _button(PanelIds.CLOSE, "close", "Close (Escape)"),
                ],
                className="details-head",
            ),
            *below_head,
            html.Div(id=PanelIds.BODY, className="details-body"),
        ],
        className="details",
        **aria(label="Result"),
        **data(keys="on"),
    )


def _button(button_id: PanelIds, name: str, label: str) -> Component:
    button: Component = dmc.ActionIcon(
        icon(name), id=button_id, variant="subtle", color="gray", n_clicks=0, **aria(label=label)
    )
    return button
