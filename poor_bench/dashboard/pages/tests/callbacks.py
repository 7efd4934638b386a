"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench.dashboard.bindings import bind_address, bind_file
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.tests import form_callbacks
from poor_bench.dashboard.pages.tests.files import classes_csv, tests_csv
from poor_bench.dashboard.pages.tests.found import found_tests, suspicious
from poor_bench.dashboard.pages.tests.ids import TestsIds as Ids
from poor_bench.dashboard.pages.tests.listed import listed_classes, listed_tests
from poor_bench.dashboard.pages.tests.panel import panel
from poor_bench.dashboard.pages.tests.selection import selection_of
from poor_bench.dashboard.services.rendered_prompts import rendered_prompts
from poor_bench.dashboard.services.test_reports import TestReports
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services


def show(services: Services, reports: TestReports, search: str | None) -> tuple[Any, ...]:
    """Return note, classes, switches, tests, and whether all of it is up to date."""
    workspace, selection = services.workspace(), selection_of(search)
    faults, items = reports.faults(), reports.items()
    known, orders = (items.value.items, items.value.orders) if items.value else ({}, None)
    is_current = faults.is_current and items.is_current
    if not workspace.tests:
        nothing = empty_state("No tests yet", "Add tests to tests.json, or import a benchmark.")
        return "", nothing, None, nothing, True
    n_tests, n_classes = len(workspace.tests), len(workspace.test_classes)
    return (
        f"{counted(n_tests, 'test')} in {counted(n_classes, 'class')}",
        listed_classes(workspace.test_classes, workspace.tests, orders, faults.value, selection),
        _chips(search, len(suspicious(reports)) if is_current else None),
        listed_tests(found_tests(services, reports, search), known, faults.value, selection),
        is_current,
    )


def _chips(search: str | None, n_suspicious: int | None) -> Component:
    selection = selection_of(search)
    chip = StayLinks(Ids.SEARCH).chip(
        "With problems",
        selection.changed(only_suspicious=not selection.only_suspicious).search,
        is_active=selection.only_suspicious,
        count=n_suspicious,
    )
    return chip_row("Only", [chip])


def show_panel(services: Services, reports: TestReports, search: str | None) -> Any:
    """Return the test that is open, or nothing."""
    selection, workspace = selection_of(search), services.workspace()
    test = workspace.tests_by_id.get(selection.test)
    if test is None:
        return None
    faults, items = reports.faults().value, reports.items().value
    return panel(
        test,
        workspace.test_classes[test.class_id],
        rendered_prompts(workspace, test),
        faults.by_test.get(test.test_id, ()) if faults else (),
        items.items.get(test.test_id) if items else None,
        selection,
    )


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    reports = TestReports(services)
    _register_shown(app, services, reports)
    form_callbacks.register(app, services)


def _register_shown(app: Dash, services: Services, reports: TestReports) -> None:
    @app.callback(
        Output(Ids.NOTE, "children"),
        Output(Ids.CLASSES, "children"),
        Output(Ids.CHIPS, "children"),
        Output(Ids.LISTED, "children"),
        Output(Ids.WAIT, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.SEARCH, "data"),
        Input(Ids.WAIT, "n_intervals"),
    )
    def _show(version: str | None, search: str, _waited: int | None) -> Any:
        if version is None:
            return (no_update,) * 5
        note, *parts, is_current = show(services, reports, search)
        return note, *(still(part, search=search) for part in parts), is_current

    @app.callback(
        Output(Ids.DETAILS, "children"),
        Input(Ids.SEARCH, "data"),
        Input(ShellIds.VERSION, "data"),
        State(Ids.DETAILS, "children"),
    )
    def _show_panel(search: str, version: str | None, shown: Any) -> Any:
        is_same = ctx.triggered_id == ShellIds.VERSION and shown
        return no_update if version is None or is_same else show_panel(services, reports, search)

    @app.callback(
        Output(Ids.SEARCH, "data"),
        Input(Ids.TEXT, "value"),
        State(Ids.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _choose(text: str | None, search: str) -> str:
        return selection_of(search).changed(text=(text or "").strip()).search

    tests_file = partial(tests_csv, services, reports)
    bind_file(app, Ids.DOWNLOAD, Ids.CSV, tests_file, State(Ids.SEARCH, "data"))
    bind_file(app, Ids.DOWNLOAD, Ids.CLASSES_CSV, partial(classes_csv, services, reports))
    bind_address(app, Ids.SEARCH)
