"""Handlers of the run itself: start, steer, follow, retry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.live_card import ABSENT
from poor_bench.dashboard.components.notice import show_error
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.live import clock_ms
from poor_bench.dashboard.pages.run.controls import chosen, controls
from poor_bench.dashboard.pages.run.failures import failures_head, failures_table
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.pages.run.progress import run_body, run_class, run_head
from poor_bench.dashboard.pages.run.selection import retry_of
from poor_bench.dashboard.text.sentences import error_text
from poor_bench.errors import RunRefusedError

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.runner.selection import Selection


def state(services: Services) -> tuple[list[Component], str, list[Component], bool, int]:
    """Return how far the run is.

    Returns:
        Body, class and head of the run, whether there is nothing to follow, and how often the
        shell should look.
    """
    current = services.runs.state()
    return (
        run_body(current, services.name),
        run_class(current),
        run_head(current),
        not current.is_active,
        clock_ms(current),
    )


def start(services: Services, selection: Selection) -> tuple[list[Component], str, Any, bool, int]:
    """Start a run, and return how far it is; where another one was first, return that one."""
    try:
        services.runs.start(selection)
    except RunRefusedError as error:
        show_error(error_text(error))
    return state(services)


def failures(services: Services) -> tuple[Component | None, str, list[Component]]:
    """Return body, class and head of what failed to run."""
    groups = services.failures()
    if not groups:
        return None, ABSENT, []
    return failures_table(groups, services.name), "card", failures_head(groups)


def steer(services: Services, button: object) -> None:
    """Do what a button of the run says."""
    match button:
        case Ids.PAUSE:
            services.runs.pause()
        case Ids.RESUME:
            services.runs.resume()
        case Ids.CANCEL:
            services.runs.cancel()


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_shown(app, services)
    _register_buttons(app, services)


def _register_shown(app: Dash, services: Services) -> None:
    @app.callback(
        *_run_outputs(),
        Input(Ids.CLOCK, "n_intervals"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_state(_ticks: int | None, version: str | None) -> Any:
        return (no_update,) * 4 if version is None else state(services)[:4]

    @app.callback(
        Output(Ids.FAILURES, "children"),
        Output(Ids.FAILURES_FRAME, "className"),
        Output(Ids.FAILURES_HEAD, "children"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_failures(version: str | None) -> Any:
        return (no_update,) * 3 if version is None else failures(services)


def _run_outputs(**options: Any) -> list[Output]:
    return [
        Output(Ids.STATE, "children", **options),
        Output(Ids.FRAME, "className", **options),
        Output(Ids.HEAD, "children", **options),
        Output(Ids.CLOCK, "disabled", **options),
    ]


def _register_buttons(app: Dash, services: Services) -> None:
    outputs = [
        *_run_outputs(allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
    ]

    @app.callback(
        *outputs, Input(Ids.START, "n_clicks"), *controls(State), prevent_initial_call=True
    )
    def _start(clicks: int, *values: Any) -> Any:
        if not clicks:  # a page that opens is no click
            return (no_update,) * 5
        return start(services, chosen(values))

    @app.callback(*outputs, Input(Ids.RETRY, "n_clicks"), prevent_initial_call=True)
    def _retry(clicks: int) -> Any:
        if not clicks:
            return (no_update,) * 5
        return start(services, retry_of(services.failures(), services.workspace()))

    @app.callback(
        *outputs,
        Input(Ids.PAUSE, "n_clicks"),
        Input(Ids.RESUME, "n_clicks"),
        Input(Ids.CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )
    def _steer(*clicks: int) -> Any:
        if not any(clicks):
            return (no_update,) * 5
        steer(services, ctx.triggered_id)
        return state(services)
