"""Callbacks of the page, and its tables as files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update

from poor_bench.dashboard.components.blocks import card, empty_state
from poor_bench.dashboard.figures.item_scatter import item_scatter_figure
from poor_bench.dashboard.forms import Entry, FormAnswer, report_refused, report_saved
from poor_bench.dashboard.page import (
    ShellIds,
    bind_address,
    bind_computed_view,
    bind_controls,
    on_data,
)
from poor_bench.dashboard.pages.tests.bulk import register_bulk
from poor_bench.dashboard.pages.tests.find import KnownTests, find_tests
from poor_bench.dashboard.pages.tests.groups import build_filters, build_finding_groups
from poor_bench.dashboard.pages.tests.layout import LINKS, FormIds, TestsIds, TestUrl
from poor_bench.dashboard.pages.tests.panel import facts, form_to_changes, panel
from poor_bench.dashboard.pages.tests.tables import (
    build_test_table,
    define_classes,
    define_tests,
    list_classes,
)
from poor_bench.dashboard.services.test_reports import prompt_variants
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.dashboard.theme import graph_config
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import disabled_tests_text, write_count
from poor_bench.statistics.item_response import LEAST_MODELS

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.config.load import Workspace
    from poor_bench.dashboard.services.services import Services
    from poor_bench.models.test import Test


def _know(services: Services) -> KnownTests:
    """Collect what is known about the tests by now."""
    items, findings = services.tests.items().value, services.tests.findings().value
    return KnownTests(
        items.items if items else {},
        findings.by_test if findings else {},
        has_figures=items is not None,
    )


def list_found_tests(services: Services, search: str | None) -> list[Test]:
    """Return the tests that the filters find."""
    url = TestUrl.read(search)
    return find_tests(services.files.workspace().tests, url, _know(services))


def tests_csv(services: Services, search: str | None) -> TableFile:
    """Return the tests that the filters find as a file."""
    found = list_found_tests(services, search)
    return define_tests(_know(services)).file("tests", found, TestUrl.read(search))


def classes_csv(services: Services, search: str | None) -> TableFile:
    """Return the test classes as a file; difficulty is 1 minus the mean score."""
    workspace, answer = services.files.workspace(), services.tests.items().value
    lines = list_classes(
        workspace.test_classes,
        workspace.tests,
        answer.orders if answer else None,
        services.tests.faults().value,
    )
    return define_classes(lines).file("test_classes", lines, TestUrl.read(search))


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Return note, classes, findings, switches, tests, and whether all of it is up to date."""
    workspace, url = services.files.workspace(), TestUrl.read(search)
    faults, items, findings = (
        services.tests.faults(), services.tests.items(), services.tests.findings()
    )  # fmt: skip
    if not workspace.tests:
        nothing = empty_state("No tests yet", "Add tests to tests.json, or import a benchmark.")
        return "", nothing, None, None, nothing, True
    orders = items.value.orders if items.value else None
    classes = list_classes(workspace.test_classes, workspace.tests, orders, faults.value)
    groups = findings.value.groups if findings.value else ()
    return (
        _note(workspace),
        define_classes(classes, url).draw(classes, LINKS, url),
        build_finding_groups(groups, url, is_complete=findings.is_current),
        build_filters(workspace, url),
        build_test_table(list_found_tests(services, search), _know(services), url),
        faults.is_current and items.is_current,
    )


def _note(workspace: Workspace) -> str:
    n_tests, n_classes = len(workspace.tests), len(workspace.test_classes)
    n_disabled = n_tests - len(workspace.enabled_tests)
    disabled = f" · {disabled_tests_text(n_disabled)}" if n_disabled else ""
    return f"{write_count(n_tests, 'test')} in {write_count(n_classes, 'class')}{disabled}"


def show_picture(services: Services) -> Component:
    """Draw tests by difficulty and discrimination, or say in a line how many models that needs."""
    report = services.tests.items().value
    if report is None:
        return html.Span("computing ...", className="quiet")
    if report.response is None:
        needed = f"The chart of difficulty and discrimination needs {LEAST_MODELS} different models"
        return html.P(f"{needed}; these results cover {report.n_models}.", className="quiet")
    suspicious = {name for name, item in report.items.items() if item.is_suspicious}
    figure = item_scatter_figure(report.response.items, suspicious)
    return card(
        "Difficulty and discrimination",
        dcc.Graph(
            id=TestsIds.PICTURE_GRAPH, figure=figure, config=graph_config(), className="chart"
        ),
        note="Choose a point to open its test. Low points barely separate models.",
    )


def open_point(search: str | None, click: dict[str, Any]) -> str:
    """Return the address of the page with the test of the chosen point open."""
    [test_id, *_] = click["points"][0]["customdata"]
    return TestUrl.read(search).change(test=test_id).search


def show_facts(services: Services, test_id: str) -> list[Component]:
    """Return what is known by now about a test; nothing if it was removed."""
    workspace = services.files.workspace()
    test = workspace.tests_by_id.get(test_id)
    if test is None:
        return []
    faults, items = services.tests.faults().value, services.tests.items().value
    problems = faults.by_test.get(test_id, ()) if faults else ()
    item = items.items.get(test_id) if items else None
    return facts(test_id, prompt_variants(workspace, test), problems, item)


def show_panel(services: Services, search: str | None) -> Any:
    """Return the test that is open, or nothing."""
    url, workspace = TestUrl.read(search), services.files.workspace()
    test = workspace.tests_by_id.get(url.test)
    if test is None:
        return None
    test_class = workspace.test_classes[test.class_id]
    return panel(test, test_class, show_facts(services, test.test_id), url)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_shown(app, services)
    _register_form(app, services)
    register_bulk(app, services, list_found_tests)


def _register_shown(app: Dash, services: Services) -> None:
    filled = (
        TestsIds.NOTE, TestsIds.CLASSES, TestsIds.GROUPS, TestsIds.CHIPS, TestsIds.LISTED,
    )  # fmt: skip
    bind_computed_view(app, TestsIds.SEARCH, filled, TestsIds.WAIT, partial(show, services))

    facts_id = {"type": FormIds.FACTS, "index": ALL}

    @on_data(
        app,
        Output(TestsIds.DETAILS, "children"),
        Input(TestsIds.SEARCH, "data"),
        State(facts_id, "id"),
    )
    def _show_panel(search: str, shown: list[dict[str, str]]) -> Any:
        is_same = TestUrl.read(search).test in [part["index"] for part in shown]
        return no_update if is_same else show_panel(services, search)  # keep what is being written

    @app.callback(
        Output(facts_id, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(TestsIds.WAIT, "disabled"),
        State(facts_id, "id"),
        prevent_initial_call=True,
    )
    def _show_facts(_version: str, _is_current: bool, shown: list[dict[str, str]]) -> Any:
        return [show_facts(services, part["index"]) for part in shown]

    @on_data(
        app,
        Output(TestsIds.PICTURE, "children"),
        Input(TestsIds.WAIT, "disabled"),
    )
    def _show_picture(_is_current: bool | None) -> Any:
        return show_picture(services)

    @app.callback(
        Output(TestsIds.SEARCH, "data", allow_duplicate=True),
        Input(TestsIds.PICTURE_GRAPH, "clickData"),
        State(TestsIds.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _open_point(click: dict[str, Any] | None, search: str) -> Any:
        return no_update if not click else open_point(search, click)

    bind_controls(
        app,
        TestsIds.SEARCH,
        TestUrl,
        text=TestsIds.TEXT,
        min_mean=TestsIds.MIN_MEAN,
        max_mean=TestsIds.MAX_MEAN,
        min_discrimination=TestsIds.MIN_DISCRIMINATION,
        max_discrimination=TestsIds.MAX_DISCRIMINATION,
        min_flakiness=TestsIds.MIN_FLAKINESS,
        max_flakiness=TestsIds.MAX_FLAKINESS,
    )
    shown = State(TestsIds.SEARCH, "data")
    files = {TestsIds.CSV: tests_csv, TestsIds.CLASSES_CSV: classes_csv}
    bind_files(app, services, TestsIds.DOWNLOAD, files, shown)
    bind_address(app, TestsIds.SEARCH)


_FORM = (
    FormIds.TEXT,
    FormIds.LEVEL,
    FormIds.REFERENCE,
    FormIds.PARAMETERS,
    FormIds.TEMPLATE,
)
_FIELD_OF = {
    "text": FormIds.TEXT,
    "texts": FormIds.TEXT,
    "level": FormIds.LEVEL,
    "reference_response": FormIds.REFERENCE,
    "evaluation_module": FormIds.PARAMETERS,
    "work_prompt_template": FormIds.TEMPLATE,
}
"""Key of an entry to the field that shows it."""


def save_test(services: Services, test_id: str, *fields: Any) -> FormAnswer:
    """Write a changed test; return what to show."""
    test_ids = [test.test_id for test in services.files.workspace().tests]
    number = test_ids.index(test_id) if test_id in test_ids else -1
    try:
        test = _find_stored_test(services, test_id)
        services.files.config().change_test(test_id, form_to_changes(test, *fields))
    except PoorBenchError as error:
        return report_refused(error, Entry(file="tests.json", number=number), _FIELD_OF)
    return report_saved("Saved in tests.json.")


def save_template(services: Services, test_id: str, template: str) -> FormAnswer:
    """Write a changed template; return what to show."""
    number = -1
    try:
        class_id = _find_stored_test(services, test_id).class_id
        number = list(services.files.workspace().test_classes).index(class_id)
        services.files.config().change_template(class_id, template)
    except PoorBenchError as error:
        return report_refused(error, Entry(file="test_classes.yaml", number=number), _FIELD_OF)
    return report_saved("Saved in test_classes.yaml.")


def _find_stored_test(services: Services, test_id: str) -> Test:
    test = services.files.workspace().tests_by_id.get(test_id)
    if test is None:
        raise ConfigError(f"test {test_id!r} was removed from tests.json")
    return test


def _register_form(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    def part(kind: FormIds) -> dict[str, Any]:
        return {"type": kind, "index": ALL}

    @app.callback(
        Output(part(FormIds.RESULT), "children"),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        *(Output(part(kind), "error") for kind in _FORM),
        Input(part(FormIds.SAVE), "n_clicks"),
        Input(part(FormIds.SAVE_TEMPLATE), "n_clicks"),
        *(State(part(kind), "value") for kind in _FORM),
        prevent_initial_call=True,
    )
    def _save(saves: list[int], template_saves: list[int], *fields: list[Any]) -> Any:
        button = ctx.triggered_id
        if not any([*saves, *template_saves]) or not isinstance(button, dict):
            nothing = [no_update] * len(saves)
            return nothing, no_update, *[nothing] * len(_FORM)
        *test_fields, template = (values[0] for values in fields)
        if button["type"] == FormIds.SAVE:
            answer = save_test(services, button["index"], *test_fields)
        else:
            answer = save_template(services, button["index"], template or "")
        version = services.version() if answer.is_saved else no_update
        errors = {_FIELD_OF[field]: text for field, text in answer.errors.items()}
        return [answer.shown], version, *([errors.get(kind, "")] for kind in _FORM)
