"""Trials that failed to run, and the way to try them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.buttons import csv_button, small_button
from poor_bench.dashboard.components.live_card import live_card, live_head
from poor_bench.dashboard.links import model_link
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.services.failures import FailureGroup
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN = 30


def failures_frame() -> Component:
    """Return the place of the failures, with the buttons that try them again and save them."""
    retry = small_button("Retry failures", Ids.RETRY, "refresh")
    return live_card(
        "Failed to run",
        frame_id=Ids.FAILURES_FRAME,
        head_id=Ids.FAILURES_HEAD,
        body_id=Ids.FAILURES,
        tools=[retry, csv_button(Ids.FAILURES_CSV, "the failures")],
    )


def failures_head(groups: Sequence[FailureGroup]) -> list[Component]:
    """Return how many trials failed to run."""
    n_trials = sum(len(group.trials) for group in groups)
    return live_head(
        "Failed to run",
        f"{counted(n_trials, 'trial')} without a score; excluded from all figures, still pending.",
    )


def failures_table(groups: Sequence[FailureGroup], name_of: Callable[[str], str]) -> Component:
    """Return what failed to run, by LLM and reason."""
    heads = ("Model", "Reason", "Trials", "First message")
    rows = [_row(group, name_of(group.llm_id)) for group in groups[:_SHOWN]]
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(name, scope="col") for name in heads])),
                html.Tbody(rows),
            ],
            className="run-table is-text",
        ),
        className="run-table-frame",
    )


def failure_rows(groups: Sequence[FailureGroup]) -> list[dict[str, Any]]:
    """Return a row for each trial that failed to run."""
    return [
        {
            "model": group.llm_id,
            "reason": group.kind.value,
            "test": trial.test_id,
            "trial": trial.number,
            "first_message": group.message,
        }
        for group in groups
        for trial in group.trials
    ]


def _row(group: FailureGroup, name: str) -> Component:
    return html.Tr(
        [
            html.Th(
                dcc.Link(name, href=model_link(group.llm_id, outcome="failed_to_run")), scope="row"
            ),
            html.Td(group.kind.value.replace("_", " ")),
            html.Td(f"{len(group.trials):,}"),
            html.Td(group.message, className="message-cell"),
        ]
    )
