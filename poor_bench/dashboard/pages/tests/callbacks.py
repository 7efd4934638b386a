"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update

from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.components.states import empty_state, error_banner
from poor_bench.dashboard.components.stay_link import StayLinks, chip_row
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.tests.form import form_to_changes
from poor_bench.dashboard.pages.tests.ids import FormIds
from poor_bench.dashboard.pages.tests.ids import TestsIds as Ids
from poor_bench.dashboard.pages.tests.listed import listed_classes, listed_tests
from poor_bench.dashboard.pages.tests.panel import panel
from poor_bench.dashboard.pages.tests.selection import chosen_tests, selection_of
from poor_bench.dashboard.services.rendered_prompts import rendered_prompts
from poor_bench.dashboard.services.test_reports import TestReports
from poor_bench.dashboard.text.csv_text import csv_text
from poor_bench.dashboard.text.figures_text import count_text
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

_COLUMNS = ("test_id", "class_id", "level", "mean_score", "pass_rate", "text", "suspicion")


def suspicious(reports: TestReports) -> set[str]:
    """Return the tests with something against them, as far as it is known by now."""
    faults, items = reports.faults().value, reports.items().value
    found = set(faults.by_test) if faults else set()
    return found | {name for name, item in (items.items if items else {}).items() if item.suspicion}


def found_tests(services: Services, reports: TestReports, search: str | None) -> list[Test]:
    """Return the tests that the filters find."""
    return chosen_tests(services.workspace().tests, selection_of(search), suspicious(reports))


def show(services: Services, reports: TestReports, search: str | None) -> tuple[Any, ...]:
    """Return note, classes, switches, tests, and whether all of it is up to date."""
    workspace, selection = services.workspace(), selection_of(search)
    faults, items = reports.faults(), reports.items()
    known, orders = (items.value.items, items.value.orders) if items.value else ({}, {})
    if not workspace.tests:
        nothing = empty_state("No tests yet", "Write some into tests.json, or import a benchmark.")
        return "", nothing, None, nothing, True
    n_tests, n_classes = len(workspace.tests), len(workspace.test_classes)
    return (
        f"{count_text(n_tests, 'test')} in {count_text(n_classes, 'class')}",
        listed_classes(workspace.test_classes, workspace.tests, orders, faults.value, selection),
        _chips(search, len(suspicious(reports))),
        listed_tests(found_tests(services, reports, search), known, faults.value, selection),
        faults.is_current and items.is_current,
    )


def _chips(search: str | None, n_suspicious: int) -> Component:
    selection = selection_of(search)
    chip = StayLinks(Ids.SEARCH).chip(
        "Something speaks against it",
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


def save_test(services: Services, test_id: str, *fields: Any) -> tuple[Component, bool]:
    """Write a changed test; return what to show below the form, and whether it was written."""
    try:
        test = services.workspace().tests_by_id.get(test_id)
        if test is None:
            raise ConfigError(f"there is no test {test_id!r} any more")
        services.config().change_test(test_id, form_to_changes(test, *fields))
    except PoorBenchError as error:
        return error_banner(error), False
    return html.P("Saved in tests.json."), True


def save_template(services: Services, test_id: str, template: str) -> tuple[Component, bool]:
    """Write a changed template; return what to show below the form, and whether it was written."""
    try:
        test = services.workspace().tests_by_id.get(test_id)
        if test is None:
            raise ConfigError(f"there is no test {test_id!r} any more")
        services.config().change_template(test.class_id, template)
    except PoorBenchError as error:
        return error_banner(error), False
    return html.P("Saved in test_classes.yaml."), True


def tests_csv(services: Services, reports: TestReports, search: str | None) -> dict[str, Any]:
    """Return the tests that the filters find as a file."""
    answer = reports.items().value
    items = answer.items if answer else {}
    rows = []
    for test in found_tests(services, reports, search):
        item = items.get(test.test_id)
        row: dict[str, Any] = {"test_id": test.test_id, "class_id": test.class_id}
        row |= {"level": test.level, "text": test.text or " | ".join(test.texts or ())}
        if item is not None:
            row |= {"mean_score": item.mean_score, "pass_rate": item.pass_rate}
            row["suspicion"] = item.suspicion
        rows.append(row)
    return text_file("tests.csv", csv_text([(name, name) for name in _COLUMNS], rows))


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    reports = TestReports(services)
    _register_shown(app, services, reports)
    _register_form(app, services)


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
        return (no_update,) * 5 if version is None else show(services, reports, search)

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

    @app.callback(
        Output(Ids.DOWNLOAD, "data"),
        Input(Ids.CSV, "n_clicks"),
        State(Ids.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _download(_clicks: int, search: str) -> Any:
        return tests_csv(services, reports, search)

    untyped: Any = app
    untyped.clientside_callback(
        ClientsideFunction("address", "show"), Input(Ids.SEARCH, "data"), prevent_initial_call=True
    )


def _register_form(app: Dash, services: Services) -> None:
    def part(kind: FormIds) -> dict[str, Any]:
        return {"type": kind, "index": ALL}

    @app.callback(
        Output(part(FormIds.RESULT), "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Input(part(FormIds.SAVE), "n_clicks"),
        Input(part(FormIds.SAVE_TEMPLATE), "n_clicks"),
        State(part(FormIds.TEXT), "value"),
        State(part(FormIds.LEVEL), "value"),
        State(part(FormIds.REFERENCE), "value"),
        State(part(FormIds.PARAMETERS), "value"),
        State(part(FormIds.TEMPLATE), "value"),
        prevent_initial_call=True,
    )
    def _save(saves: list[int], template_saves: list[int], *fields: list[Any]) -> Any:
        button = ctx.triggered_id
        if not any([*saves, *template_saves]) or not isinstance(button, dict):
            return [no_update] * len(saves), no_update
        *test_fields, template = (values[0] for values in fields)
        if button["type"] == FormIds.SAVE:
            shown, is_saved = save_test(services, button["index"], *test_fields)
        else:
            shown, is_saved = save_template(services, button["index"], template or "")
        return [shown], services.version() if is_saved else no_update
