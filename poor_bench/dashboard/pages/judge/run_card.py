"""Progress and result of a judged run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import small_button
from poor_bench.dashboard.components.live_card import ABSENT, live_card, live_head
from poor_bench.dashboard.components.ticked_text import ticked_text
from poor_bench.dashboard.pages.judge.ids import StartIds as Ids
from poor_bench.dashboard.services.judge_state import JudgeState
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.text.figures_text import dollars_text, duration_text

if TYPE_CHECKING:
    from dash.development.base_component import Component

_TITLES = {
    RunPhase.IDLE: "",
    RunPhase.STARTING: "Starting",
    RunPhase.RUNNING: "Judging",
    RunPhase.STOPPING: "Stopping: cancelling open requests",
    RunPhase.FINISHED: "Judged",
    RunPhase.CANCELLED: "Cancelled; results so far are stored",
    RunPhase.BROKEN: "The run failed",
}


def run_frame() -> Component:
    """Build the frame of the run, with its button."""
    return live_card(
        "Judged run in progress",
        frame_id=Ids.FRAME,
        head_id=Ids.HEAD,
        body_id=Ids.BODY,
        tools=[small_button("Cancel", Ids.CANCEL, "stop")],
    )


def run_class(state: JudgeState) -> str:
    """CSS class of the frame: visible, cancellable."""
    if state.phase is RunPhase.IDLE:
        return ABSENT
    marks = {
        "is-active": state.is_active,
        "can-cancel": state.is_active and state.phase is not RunPhase.STOPPING,
    }
    return " ".join(["card judge-run", *(mark for mark, is_true in marks.items() if is_true)])


def run_head(state: JudgeState) -> list[Component]:
    """Build the heading: agent, elapsed time, progress."""
    parts = [
        state.agent_name,
        duration_text(state.elapsed_s),
        dollars_text(state.cost_usd) if state.cost_usd is not None else "",
    ]
    return live_head(_TITLES[state.phase], " · ".join(part for part in parts if part))


def run_body(state: JudgeState) -> list[Component]:
    """Build progress bar and latest events."""
    parts = (
        html.P(ticked_text(state.message), className="failure-box") if state.message else None,
        _progress(state) if state.n_steps else None,
        html.Ul([html.Li(event) for event in state.events], className="error-list", role="log")
        if state.events
        else None,
    )
    return [part for part in parts if part is not None]


def _progress(state: JudgeState) -> Component:
    bar = dmc.Progress(
        value=100 * state.n_done / state.n_steps,
        size="lg",
        animated=state.phase is RunPhase.RUNNING,
        **aria(label="Progress of the judged run"),
    )
    figures = f"{state.n_done:,} of {state.n_steps:,} conversations and judgements"
    return html.Div(
        [bar, html.Div(html.Span(figures), className="run-overall-figures")],
        className="run-overall",
    )
