"""The frame of the result panel: head, buttons, slots that callbacks fill."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria, data, icon

if TYPE_CHECKING:
    from dash.development.base_component import Component


class PanelIds(StrEnum):
    """What callbacks of the panel refer to; a page has one panel."""

    OPEN = "panel-open-store"
    """The result that is open: `[model id, test id, trial, is failure]`, or None."""
    TITLE = "panel-title"
    POSITION = "panel-position"
    PREVIOUS = "panel-previous-button"
    NEXT = "panel-next-button"
    CLOSE = "panel-close-button"
    BODY = "panel-body"
    EARLIER = "panel-earlier-body"
    EARLIER_OPEN = "panel-earlier-store"
    """True once the reader opened the list of earlier answers."""
    RESCORE = "panel-rescore-button"
    REPORT_TEXT = "panel-report-text"
    REPORT = "panel-report-button"
    REPORT_FORM = "panel-report-form"


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
            html.Div(
                [
                    html.Div(id=PanelIds.BODY, className="panel-sections"),
                    _build_earlier(),
                    _build_corrections(),
                ],
                className="details-body",
            ),
            dcc.Store(id=PanelIds.OPEN),
            dcc.Store(id=PanelIds.EARLIER_OPEN, data=False),
        ],
        className="details",
        **aria(label="Result"),
        **data(keys="on"),
    )


def _build_earlier() -> Component:
    return html.Details(
        [html.Summary("Earlier answers of this model"), html.Div(id=PanelIds.EARLIER)],
        className="folded",
        **data(toggle_store=PanelIds.EARLIER_OPEN),
    )


def _build_corrections() -> Component:
    return html.Details(
        [
            html.Summary("Wrong score or wrong test"),
            dmc.Button("Re-score this answer", id=PanelIds.RESCORE, size="xs", variant="default"),
            html.P("Runs today's evaluator on the stored answer.", className="quiet"),
            html.Div(
                [
                    dmc.Textarea(
                        id=PanelIds.REPORT_TEXT,
                        label="Why is the test wrong?",
                        description="Saved in tests.json. `tests lint` and the page Tests show it.",
                        autosize=True,
                        minRows=2,
                        maxRows=8,
                        size="xs",
                    ),
                    dmc.Button("Report test", id=PanelIds.REPORT, size="xs", variant="default"),
                ],
                id=PanelIds.REPORT_FORM,
                className="form-stack",
            ),
        ],
        className="folded corrections",
    )


def _button(button_id: PanelIds, name: str, label: str) -> Component:
    button: Component = dmc.ActionIcon(
        icon(name),
        id=button_id,
        variant="subtle",
        color="gray",
        n_clicks=0,
        **aria(label=label),
        **data(discards="yes"),
    )
    return button
