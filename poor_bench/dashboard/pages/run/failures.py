"""Trials that failed to run, and the way to try them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.dashboard.components.card import card
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.links import model_link
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.services.failures import FailureGroup
from poor_bench.dashboard.text.figures_text import count_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN = 30


def failures_card(
    groups: Sequence[FailureGroup], name_of: Callable[[str], str]
) -> Component | None:
    """Return what could not be run, by LLM and reason; nothing where all went well."""
    if not groups:
        return None
    heads = ("Model", "Reason", "Trials", "First message")
    rows = [_row(group, name_of(group.llm_id)) for group in groups[:_SHOWN]]
    return card(
        "Failed to run",
        html.Div(
            html.Table(
                [
                    html.Thead(html.Tr([html.Th(name, scope="col") for name in heads])),
                    html.Tbody(rows),
                ],
                className="run-table is-text",
            ),
            className="run-table-frame",
        ),
        note="These have no score and count nowhere; they are pending until they run.",
        tools=retry_button(sum(len(group.test_ids) for group in groups)),
    )


def retry_button(n_trials: int) -> Component:
    """Return the button that tries failures again."""
    button: Component = dmc.Button(
        f"Retry {count_text(n_trials, 'failure')}",
        id=Ids.RETRY,
        leftSection=icon("refresh"),
        variant="default",
        size="compact-sm",
        n_clicks=0,
    )
    return button


def _row(group: FailureGroup, name: str) -> Component:
    return html.Tr(
        [
            html.Th(
                dcc.Link(name, href=model_link(group.llm_id, outcome="failed_to_run")), scope="row"
            ),
            html.Td(group.kind.value.replace("_", " ")),
            html.Td(f"{len(group.test_ids):,}"),
            html.Td(group.message, className="message-cell"),
        ]
    )
