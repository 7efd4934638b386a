"""Callbacks of the page: choose, start, steer, follow, retry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.components.blocks import ABSENT, error_banner
from poor_bench.dashboard.page import ShellIds, bind_file, clock_ms, show_error, text_file
from poor_bench.dashboard.pages.run.layout import RunIds, chosen, controls, retry_of
from poor_bench.dashboard.pages.run.plan import (
    failure_rows,
    failures_head,
    failures_table,
    nothing_to_run,
    preview,
    preview_rows,
    run_is_under_way,
    sandbox_warning,
)
from poor_bench.dashboard.pages.run.progress import run_body, run_class, run_head
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import ConfigError, PoorBenchError, RunRefusedError
from poor_bench.reports.csv_table import table_csv

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.runner.selection import Selection


Options = list[dict[str, str]]


def options(services: Services) -> tuple[Options, Options, Options]:
    """Return the LLMs, classes and levels that can be chosen."""
    workspace = services.files.workspace()
    llms = [
        {
            "value": llm.id,
            "label": services.llms.name(llm.id) + ("" if llm.enabled else " (not enabled)"),
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
    if (missing := nothing_to_run(services.files.workspace())) is not None:
        return missing, True
    try:
        planned = services.plans.preview(selection)
    except ConfigError as error:
        return error_banner(error), True
    return preview(planned, services.llms.name), not planned.llms or services.runs.state().is_active


def sandbox(services: Services) -> Component | None:
    """Return a warning where code of models is not isolated, or not run for that reason."""
    try:
        terms = services.plans.sandbox_terms()
    except PoorBenchError as error:
        return error_banner(error)
    return sandbox_warning(terms) if terms is not None else None


def plan_csv(services: Services, selection: Selection) -> dict[str, Any]:
    """Return the plan of a choice as a file."""
    return text_file("plan.csv", table_csv(preview_rows(services.plans.preview(selection))))


def failures_csv(services: Services) -> dict[str, Any]:
    """Return every trial that failed to run as a file."""
    return text_file("failures.csv", table_csv(failure_rows(services.results.failures())))


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_choice(app, services)
    _register_run(app, services)
    bind_file(app, RunIds.DOWNLOAD, RunIds.FAILURES_CSV, partial(failures_csv, services))
    bind_file(
        app,
        RunIds.DOWNLOAD,
        RunIds.PREVIEW_CSV,
        lambda *values: plan_csv(services, chosen(values)),
        *controls(State),
    )


def _register_choice(app: Dash, services: Services) -> None:
    @app.callback(
        Output(RunIds.SANDBOX, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(RunIds.CLOCK, "disabled"),
    )
    def _show_sandbox(version: str | None, _is_still: bool) -> Any:
        return no_update if version is None else sandbox(services)

    @app.callback(
        Output(RunIds.LLMS, "data"),
        Output(RunIds.CLASSES, "data"),
        Output(RunIds.LEVELS, "data"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_options(version: str | None) -> Any:
        return (no_update,) * 3 if version is None else options(services)

    @app.callback(
        Output(RunIds.LLMS, "value"),
        Output(RunIds.CLASSES, "value"),
        Output(RunIds.LEVELS, "value"),
        Output(RunIds.TESTS, "value"),
        Output(RunIds.FORCE, "checked"),
        Input(RunIds.ALL, "n_clicks"),
        prevent_initial_call=True,
    )
    def _choose_all(_clicks: int) -> Any:
        return [], [], [], "", False

    @app.callback(
        Output(RunIds.PREVIEW, "children"),
        Output(RunIds.START, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(RunIds.CLOCK, "disabled"),
        *controls(Input),
    )
    def _show_plan(version: str | None, _is_still: bool, *values: Any) -> Any:
        if version is None:
            return no_update, no_update
        if services.runs.state().is_active:
            return run_is_under_way(), True
        return plan(services, chosen(values))


def state(services: Services) -> tuple[list[Component], str, list[Component], bool, int]:
    """Return how far the run is.

    Returns:
        Body, class and head of the run, whether there is nothing to follow, and how often the
        shell should look.
    """
    current = services.runs.state()
    return (
        run_body(current, services.llms.name),
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
    groups = services.results.failures()
    if not groups:
        return None, ABSENT, []
    return failures_table(groups, services.llms.name), "card", failures_head(groups)


def steer(services: Services, button: object) -> None:
    """Do what a button of the run says."""
    match button:
        case RunIds.PAUSE:
            services.runs.pause()
        case RunIds.RESUME:
            services.runs.resume()
        case RunIds.CANCEL:
            services.runs.cancel()


def _register_run(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_shown(app, services)
    _register_buttons(app, services)


def _register_shown(app: Dash, services: Services) -> None:
    @app.callback(
        *_run_outputs(),
        Input(RunIds.CLOCK, "n_intervals"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_state(_ticks: int | None, version: str | None) -> Any:
        return (no_update,) * 4 if version is None else state(services)[:4]

    @app.callback(
        Output(RunIds.FAILURES, "children"),
        Output(RunIds.FAILURES_FRAME, "className"),
        Output(RunIds.FAILURES_HEAD, "children"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_failures(version: str | None) -> Any:
        return (no_update,) * 3 if version is None else failures(services)


def _run_outputs(**options: Any) -> list[Output]:
    return [
        Output(RunIds.STATE, "children", **options),
        Output(RunIds.FRAME, "className", **options),
        Output(RunIds.HEAD, "children", **options),
        Output(RunIds.CLOCK, "disabled", **options),
    ]


def _register_buttons(app: Dash, services: Services) -> None:
    outputs = [
        *_run_outputs(allow_duplicate=True),
        Output(ShellIds.CLOCK, "interval", allow_duplicate=True),
    ]

    @app.callback(
        *outputs, Input(RunIds.START, "n_clicks"), *controls(State), prevent_initial_call=True
    )
    def _start(clicks: int, *values: Any) -> Any:
        if not clicks:  # a page that opens is no click
            return (no_update,) * 5
        return start(services, chosen(values))

    @app.callback(*outputs, Input(RunIds.RETRY, "n_clicks"), prevent_initial_call=True)
    def _retry(clicks: int) -> Any:
        if not clicks:
            return (no_update,) * 5
        return start(services, retry_of(services.results.failures(), services.files.workspace()))

    @app.callback(
        *outputs,
        Input(RunIds.PAUSE, "n_clicks"),
        Input(RunIds.RESUME, "n_clicks"),
        Input(RunIds.CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )
    def _steer(*clicks: int) -> Any:
        if not any(clicks):
            return (no_update,) * 5
        steer(services, ctx.triggered_id)
        return state(services)
