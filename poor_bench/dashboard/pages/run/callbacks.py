"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.bindings import bind_file
from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.components.states import error_banner
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.run import run_callbacks
from poor_bench.dashboard.pages.run.controls import chosen, controls
from poor_bench.dashboard.pages.run.failures import failure_rows
from poor_bench.dashboard.pages.run.ids import RunIds as Ids
from poor_bench.dashboard.pages.run.preview import (
    nothing_to_run,
    preview,
    preview_rows,
    run_is_under_way,
    sandbox_warning,
)
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.reports.csv_table import table_csv

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
    if (missing := nothing_to_run(services.workspace())) is not None:
        return missing, True
    try:
        planned = services.preview(selection)
    except ConfigError as error:
        return error_banner(error), True
    return preview(planned, services.name), not planned.llms or services.runs.state().is_active


def sandbox(services: Services) -> Component | None:
    """Return a warning where code of models is not isolated, or not run for that reason."""
    try:
        terms = services.sandbox_terms()
    except PoorBenchError as error:
        return error_banner(error)
    return sandbox_warning(terms) if terms is not None else None


def plan_csv(services: Services, selection: Selection) -> dict[str, Any]:
    """Return the plan of a choice as a file."""
    return text_file("plan.csv", table_csv(preview_rows(services.preview(selection))))


def failures_csv(services: Services) -> dict[str, Any]:
    """Return every trial that failed to run as a file."""
    return text_file("failures.csv", table_csv(failure_rows(services.failures())))


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_choice(app, services)
    run_callbacks.register(app, services)
    bind_file(app, Ids.DOWNLOAD, Ids.FAILURES_CSV, partial(failures_csv, services))
    bind_file(
        app,
        Ids.DOWNLOAD,
        Ids.PREVIEW_CSV,
        lambda *values: plan_csv(services, chosen(values)),
        *controls(State),
    )


def _register_choice(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.SANDBOX, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.CLOCK, "disabled"),
    )
    def _show_sandbox(version: str | None, _is_still: bool) -> Any:
        return no_update if version is None else sandbox(services)

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
        *controls(Input),
    )
    def _show_plan(version: str | None, _is_still: bool, *values: Any) -> Any:
        if version is None:
            return no_update, no_update
        if services.runs.state().is_active:
            return run_is_under_way(), True
        return plan(services, chosen(values))
