"""Handlers of the form that has an agent judged: choose, see the cost, start, follow, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, html, no_update

from poor_bench.dashboard.components.notice import show_error
from poor_bench.dashboard.components.states import error_banner
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.judge.ids import StartIds as Ids
from poor_bench.dashboard.pages.judge.run_card import run_body, run_class, run_head
from poor_bench.dashboard.pages.judge.start_form import (
    cases_note,
    fields,
    order_of,
    preview_tiles,
)
from poor_bench.dashboard.text.sentences import error_text
from poor_bench.errors import PoorBenchError, RunRefusedError

if TYPE_CHECKING:
    from poor_bench.dashboard.services.judge_service import JudgeOrder
    from poor_bench.dashboard.services.services import Services

Options = list[dict[str, str]]


def options(services: Services) -> tuple[Options, Options]:
    """List agents and judges; empty if a file is not valid."""
    try:
        shelf = services.judge_runs.shelf()
    except PoorBenchError:
        return [], []
    agents = [{"value": agent.id, "label": agent.name} for agent in shelf.agents.values()]
    judges = [{"value": llm.id, "label": llm.label or llm.id} for llm in shelf.llms.values()]
    return agents, judges


def preview(services: Services, *values: Any) -> tuple[Any, bool]:
    """Build the preview of a choice; disable Start if not valid."""
    if services.judge_runs.state().is_active:
        text = "Wait until the current run has finished."
        return html.P(text, className="quiet"), True
    if not values[0]:
        return html.P("Choose an agent to see the plan and its cost.", className="quiet"), True
    try:
        planned = services.judge_runs.preview(order_of(*values).request)
    except PoorBenchError as error:
        return error_banner(error), True
    return [preview_tiles(planned), html.P(cases_note(planned), className="quiet")], False


def run(services: Services) -> tuple[Any, str, Any, bool]:
    """Build body, class and head of the active run."""
    state = services.judge_runs.state()
    return run_body(state), run_class(state), run_head(state), not state.is_active


def start(services: Services, order: JudgeOrder) -> tuple[Any, str, Any, bool]:
    """Start a run, and return how far it is; where another one was first, return that one."""
    try:
        services.judge_runs.start(order)
    except RunRefusedError as error:
        show_error(error_text(error))
    return run(services)


def register(app: Dash, services: Services) -> None:
    """Register the callbacks."""
    _register_form(app, services)
    _register_run(app, services)


def _register_form(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.AGENT, "data"),
        Output(Ids.JUDGES, "data"),
        Input(ShellIds.VERSION, "data"),
    )
    def _options(version: str | None) -> Any:
        return (no_update,) * 2 if version is None else options(services)

    @app.callback(
        Output(Ids.PREVIEW, "children"),
        Output(Ids.START, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.CLOCK, "disabled"),
        *fields(Input),
    )
    def _preview(version: str | None, _is_still: bool, *values: Any) -> Any:
        return (no_update,) * 2 if version is None else preview(services, *values)


def _register_run(app: Dash, services: Services) -> None:
    @app.callback(*_outputs(), Input(Ids.CLOCK, "n_intervals"), Input(ShellIds.VERSION, "data"))
    def _run(_ticks: int | None, version: str | None) -> Any:
        return (no_update,) * 4 if version is None else run(services)

    @app.callback(
        *_outputs(allow_duplicate=True),
        Input(Ids.START, "n_clicks"),
        *fields(State),
        prevent_initial_call=True,
    )
    def _start(clicks: int, *values: Any) -> Any:
        if not clicks:  # a page that opens is no click
            return (no_update,) * 4
        return start(services, order_of(*values))

    @app.callback(
        *_outputs(allow_duplicate=True), Input(Ids.CANCEL, "n_clicks"), prevent_initial_call=True
    )
    def _cancel(clicks: int) -> Any:
        if not clicks:
            return (no_update,) * 4
        services.judge_runs.cancel()
        return run(services)


def _outputs(**more: Any) -> list[Output]:
    return [
        Output(Ids.BODY, "children", **more),
        Output(Ids.FRAME, "className", **more),
        Output(Ids.HEAD, "children", **more),
        Output(Ids.CLOCK, "disabled", **more),
    ]
