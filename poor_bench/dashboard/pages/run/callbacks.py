"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.components.states import error_banner
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.live import clock_ms
from poor_bench.dashboard.pages.run.failures import failure_rows, failures_card
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.pages.run.preview import preview, preview_rows, run_is_under_way
from poor_bench.dashboard.pages.run.progress import run_card
from poor_bench.dashboard.pages.run.selection import retry_of, selection_of
from poor_bench.dashboard.text.csv_text import table_csv
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.runner.selection import Selection

Options = list[dict[str, str]]


def options(services: Services) -> tuple[Options, Options, Options]:
    """Return the LLMs, classes and levels that can be chosen."""
    workspace = services.workspace()
    llms = [
        {
            "value": llm.id,
            "label": services.name(llm.id) + ("" if llm.enabled else " (not enabled)"),
        }
        for llm in workspace.llms
    ]
    levels = sorted({test.level for test in workspace.tests})
    return (
        llms,
        [{"value": name, "label": name.replace("_", " ")} for name in workspace.test_classes],
        [{"value": str(level), "label": f"Level {level}"} for level in levels],
    )


def plan(services: Services, selection: Selection) -> tuple[Component, bool]:
    """Return the plan of a choice, and whether there is nothing to start."""
    try:
        planned = services.preview(selection)
    except ConfigError as error:
        return error_banner(error), True
    return preview(planned, services.name), not planned.llms or services.runs.state().is_active


def state(services: Services) -> tuple[Component | None, bool, int]:
    """Return the run, whether there is nothing to follow, and how often the shell should look."""
    current = services.runs.state()
    return run_card(current, services.name), not current.is_active, clock_ms(current)


def failures(services: Services) -> Component | None:
    """Return what could not be run."""
    return failures_card(services.failures(), services.name)


def plan_csv(services: Services, selection: Selection) -> dict[str, Any]:
    """Return the plan of a choice as a file."""
    return text_file("plan.csv", table_csv(preview_rows(services.preview(selection))))


def failures_csv(services: Services) -> dict[str, Any]:
    """Return every test that could not be run as a file."""
    return text_file("failures.csv", table_csv(failure_rows(services.failures())))


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
    _register_choice(app, services)
    _register_run(app, services)
    _register_files(app, services)


def _register_files(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.DOWNLOAD, "data"),
        Input(Ids.PREVIEW_CSV, "n_clicks"),
        *_controls(State),
        prevent_initial_call=True,
    )
    def _download_plan(_clicks: int, *controls: Any) -> Any:
        return plan_csv(services, _selection(controls))

    @app.callback(
        Output(Ids.DOWNLOAD, "data", allow_duplicate=True),
        Input(Ids.FAILURES_CSV, "n_clicks"),
        prevent_initial_call=True,
    )
    def _download_failures(clicks: int | None) -> Any:
        return failures_csv(services) if clicks else no_update


def _register_choice(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.LLMS, "data"),
        Output(Ids.CLASSES, "data"),
        Output(Ids.LEVELS, "data"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_options(version: str | None) -> Any:
        return (no_update,) * 3 if version is None else options(services)

    @app.callback(
        Output(Ids.LLMS, "value"),
        Output(Ids.CLASSES, "value"),
        Output(Ids.LEVELS, "value"),
        Output(Ids.TESTS, "value"),
        Output(Ids.FORCE, "checked"),
        Input(Ids.ALL, "n_clicks"),
        prevent_initial_call=True,
    )
    def _choose_all(_clicks: int) -> Any:
        return [], [], [], "", False

    @app.callback(
        Output(Ids.PREVIEW, "children"),
        Output(Ids.START, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.CLOCK, "disabled"),
        *_controls(Input),
    )
    def _show_plan(version: str | None, _is_still: bool, *controls: Any) -> Any:
        if version is None:
            return no_update, no_update
        if services.runs.state().is_active:
            return run_is_under_way(), True
        return plan(services, _selection(controls))


def _register_run(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.STATE, "children"),
        Output(Ids.CLOCK, "disabled"),
        Input(Ids.CLOCK, "n_intervals"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_state(_ticks: int | None, version: str | None) -> Any:
        return (no_update, no_update) if version is None else state(services)[:2]

    @app.callback(
        Output(Ids.FAILURES, "children"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_failures(version: str | None) -> Any:
        return no_update if version is None else failures(services)

    @app.callback(
        Output(Ids.STATE, "children", allow_duplicate=True),
        Output(Ids.CLOCK, "disabled", allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
        Input(Ids.START, "n_clicks"),
        *_controls(State),
        prevent_initial_call=True,
    )
    def _start(clicks: int, *controls: Any) -> Any:
        if not clicks:
            return (no_update,) * 3
        services.runs.start(_selection(controls))
        return state(services)

    @app.callback(
        Output(Ids.STATE, "children", allow_duplicate=True),
        Output(Ids.CLOCK, "disabled", allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
        Input(Ids.RETRY, "n_clicks"),
        prevent_initial_call=True,
    )
    def _retry(clicks: int) -> Any:
        if not clicks:
            return (no_update,) * 3
        services.runs.start(retry_of(services.failures()))
        return state(services)

    @app.callback(
        Output(Ids.STATE, "children", allow_duplicate=True),
        Output(Ids.CLOCK, "disabled", allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
        Input(Ids.PAUSE, "n_clicks"),
        Input(Ids.RESUME, "n_clicks"),
        Input(Ids.CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )
    def _steer(*clicks: int) -> Any:
        if not any(clicks):
            return (no_update,) * 3
        steer(services, ctx.triggered_id)
        return state(services)


def _controls(kind: type[Input | State]) -> list[Any]:
    fields = (
        (Ids.LLMS, "value"),
        (Ids.CLASSES, "value"),
        (Ids.LEVELS, "value"),
        (Ids.TESTS, "value"),
        (Ids.TRIALS, "value"),
        (Ids.FORCE, "checked"),
    )
    return [kind(control, name) for control, name in fields]


def _selection(controls: tuple[Any, ...]) -> Selection:
    llms, classes, levels, tests, trials, force = controls
    return selection_of(llms, classes, levels, tests, trials, force=bool(force))
