"""Callbacks of the page: tests, files, edits of many tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import ALL, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench.config.edit_entries import TestEdit
from poor_bench.config.load import Workspace
from poor_bench.dashboard.components.blocks import computing, empty_state, keep_height
from poor_bench.dashboard.figures.scores import item_scatter_figure
from poor_bench.dashboard.page import (
    ShellIds,
    bind_address,
    bind_computed_view,
    bind_controls,
    leave_unchanged,
    on_click,
    on_data,
)
from poor_bench.dashboard.pages.tests.filters import (
    KnownTests,
    build_filters,
    build_finding_groups,
    build_refusal,
    choose_tests,
    describe_scope,
    find_tests,
)
from poor_bench.dashboard.pages.tests.layout import (
    LINKS,
    FormIds,
    TestsIds,
    TestUrl,
    sketch_page,
)
from poor_bench.dashboard.pages.tests.panel import facts, panel, read_test_id, register_form
from poor_bench.dashboard.pages.tests.tables import (
    ClassLine,
    build_test_table,
    define_classes,
    define_tests,
    list_classes,
)
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.services.test_edits import TestEdits
from poor_bench.dashboard.services.test_reports import ItemReport, prompt_variants
from poor_bench.dashboard.table_files import TableFile, bind_files
from poor_bench.dashboard.theme import graph_config
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count, write_disabled_tests
from poor_bench.models.test import Test
from poor_bench.statistics.item_response import LEAST_MODELS


def _know(services: Services) -> KnownTests:
    """Collect what is known about the tests by now."""
    items, findings = services.tests.items().value, services.tests.findings().value
    return KnownTests(
        items.items if items else {},
        findings.by_test if findings else {},
        has_figures=items is not None,
    )


def list_found_tests(services: Services, search: str | None) -> list[Test]:
    """Find the tests that the filters match."""
    url = TestUrl.read(search)
    return find_tests(services.files.workspace().tests, url, _know(services))


def tests_csv(services: Services, search: str | None) -> TableFile:
    """Write the tests that the filters find as a file, once all about them is computed."""
    services.tests.wait_for_findings()
    found = list_found_tests(services, search)
    return define_tests(_know(services)).file("tests", found, TestUrl.read(search))


def classes_csv(services: Services, search: str | None) -> TableFile:
    """Write the test classes as a file, once all is computed; difficulty is 1 minus the mean."""
    services.tests.wait_for_findings()
    lines = _list_classes(services)
    return define_classes(lines).file("test_classes", lines, TestUrl.read(search))


def show(services: Services, search: str | None) -> tuple[Any, ...]:
    """Build note, classes, findings, switches, tests, and whether all of it is up to date."""
    workspace, url = services.files.workspace(), TestUrl.read(search)
    if not workspace.tests:
        nothing = empty_state("No tests yet", "Add tests to tests.json.")
        return "", nothing, None, None, nothing, True
    classes, findings, is_current = _show_first(services, url)
    return (
        _note(workspace),
        classes,
        findings,
        build_filters(workspace, url),
        build_test_table(list_found_tests(services, search), _know(services), url),
        is_current,
    )


def _show_first(services: Services, url: TestUrl) -> tuple[Component, Component, bool]:
    """Build classes and findings, and whether both are up to date."""
    findings = services.tests.findings()
    lines = _list_classes(services)
    groups, is_whole = (
        (findings.value.groups, findings.value.is_whole) if findings.value else ((), False)
    )
    return (
        define_classes(lines, url).draw(lines, LINKS, url),
        build_finding_groups(groups, url, is_whole=is_whole),
        findings.is_current,
    )


def _list_classes(services: Services) -> list[ClassLine]:
    workspace, answer = services.files.workspace(), services.tests.items().value
    return list_classes(
        workspace.test_classes,
        workspace.tests,
        answer.orders if answer else None,
        services.tests.faults().value,
    )


def sketch(services: Services, url: TestUrl) -> Component:
    """Build head, classes and findings of the page, as far as they are known."""
    classes, findings, _ = _show_first(services, url)
    return sketch_page(_note(services.files.workspace()), classes, findings)


def _note(workspace: Workspace) -> str:
    n_tests, n_classes = len(workspace.tests), len(workspace.test_classes)
    n_disabled = n_tests - len(workspace.enabled_tests)
    disabled = f" · {write_disabled_tests(n_disabled)}" if n_disabled else ""
    return f"{write_count(n_tests, 'test')} in {write_count(n_classes, 'class')}{disabled}"


def show_picture(services: Services, shown: str | None) -> tuple[Any, Any]:
    """Draw tests by difficulty and discrimination, or say in a line how many models that needs.

    Args:
        services: Have the results.
        shown: The version of the results that is drawn already; it is not drawn again.

    Returns:
        The picture, and the version of its results.
    """
    report = services.tests.items().value
    if report is None:
        return computing(), None
    if report.version == shown:
        return no_update, no_update
    return _draw_picture(report), report.version


def _draw_picture(report: ItemReport) -> Component:
    if report.response is None:
        needed = f"Needs {LEAST_MODELS} different models"
        return html.Span(f"{needed}, not {report.n_models}.", className="quiet")
    suspicious = {name for name, item in report.items.items() if item.is_suspicious}
    figure = item_scatter_figure(report.response.items, suspicious)
    return html.Div(
        dcc.Graph(
            id=TestsIds.PICTURE_GRAPH, figure=figure, config=graph_config(), className="chart"
        ),
        className="chart-place",
        style=keep_height(figure),
    )


def open_point(search: str | None, click: dict[str, Any]) -> str:
    """Write the address of the page with the test of the chosen point open."""
    [test_id, *_] = click["points"][0]["customdata"]
    return TestUrl.read(search).change(test=test_id).search


def show_facts(services: Services, test_id: str) -> list[Component]:
    """Read what is known by now about a test; nothing if it was removed."""
    workspace = services.files.workspace()
    test = workspace.tests_by_id.get(test_id)
    if test is None:
        return []
    faults, items = services.tests.faults().value, services.tests.items().value
    problems = faults.by_test.get(test_id, ()) if faults else ()
    item = items.items.get(test_id) if items else None
    return facts(test_id, prompt_variants(workspace, test), problems, item)


def show_panel(services: Services, search: str | None) -> Any:
    """Build the panel of the open test; nothing without one."""
    url, workspace = TestUrl.read(search), services.files.workspace()
    test = workspace.tests_by_id.get(url.test)
    if test is None:
        return None
    test_class = workspace.test_classes[test.class_id]
    return panel(test, test_class, show_facts(services, test.test_id), url)


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_shown(app, services)
    register_form(app, services)
    _register_bulk(app, services)


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
    def _show_panel(search: str, shown: list[dict[str, str] | None]) -> Any:
        is_same = TestUrl.read(search).test in filter(None, map(read_test_id, shown))
        return no_update if is_same else show_panel(services, search)  # keep what is being written

    @app.callback(
        Output(facts_id, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(TestsIds.WAIT, "disabled"),
        State(facts_id, "id"),
        prevent_initial_call=True,
    )
    def _show_facts(_version: str, _current: bool, shown: list[dict[str, str] | None]) -> Any:
        return [show_facts(services, read_test_id(part)) for part in shown]

    @on_data(
        app,
        Output(TestsIds.PICTURE, "children"),
        Output(TestsIds.PICTURED, "data"),
        Input(TestsIds.WAIT, "disabled"),
        State(TestsIds.PICTURED, "data"),
    )
    def _show_picture(_is_current: bool | None, shown: str | None) -> Any:
        return show_picture(services, shown)

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


_MOVE, _LEVEL = "class:", "level:"
_PLAIN = {
    "disable": "Disable",
    "enable": "Enable",
    "add-tag": "Add tag",
    "remove-tag": "Remove tag",
    "delete": "Delete",
}


def list_actions(workspace: Workspace) -> list[dict[str, Any]]:
    """List the changes that can be chosen, in groups."""
    highest = max((test.level for test in workspace.tests), default=1)
    groups = {
        "Tests": _PLAIN,
        "Move to class": {f"{_MOVE}{name}": name for name in workspace.test_classes},
        "Set level": {f"{_LEVEL}{n}": f"Level {n}" for n in range(1, highest + 2)},
    }
    return [
        {
            "group": group,
            "items": [{"value": value, "label": label} for value, label in members.items()],
        }
        for group, members in groups.items()
    ]


def read_edit(test_ids: Sequence[str], action: str | None, tag: str | None) -> TestEdit:
    """Read the controls.

    Raises:
        ConfigError: If a choice is missing.
    """
    chosen, name = frozenset(test_ids), (tag or "").strip()
    if not action:
        raise ConfigError("no change")
    if action.startswith(_MOVE):
        return TestEdit(test_ids=chosen, class_id=action.removeprefix(_MOVE))
    if action.startswith(_LEVEL):
        return TestEdit(test_ids=chosen, level=int(action.removeprefix(_LEVEL)))
    if action.endswith("-tag") and not name:
        raise ConfigError("no tag")
    return TestEdit(
        test_ids=chosen,
        enabled={"enable": True, "disable": False}.get(action),
        added_tag=name if action == "add-tag" else "",
        removed_tag=name if action == "remove-tag" else "",
        is_deleted=action == "delete",
    )


def apply_edit(
    services: Services, search: str | None, action: str | None, tag: str | None
) -> tuple[str | Component, bool]:
    """Change the chosen tests; return what to show, and True if something changed."""
    url = TestUrl.read(search)
    tests: Sequence[Test] = ()
    try:
        edit = read_edit(choose_tests(list_found_tests(services, search), url), action, tag)
        tests = services.edits.list_tests_after(edit)
        return f"{services.edits.apply(edit)}.", True
    except PoorBenchError as error:
        return build_refusal(error, tests, url), False


def undo_edit(services: Services) -> tuple[str | Component, bool]:
    """Undo the last edit; return what to show, and True if something changed."""
    try:
        return f"{services.edits.undo()}.", True
    except PoorBenchError as error:
        return build_refusal(error), False


def tell_edit(edits: TestEdits, shown: str | dict[str, Any] | None) -> Any:
    """Say what was edited last, in whatever window; a refusal stays until the next click."""
    if isinstance(shown, dict) or not (edits.last or shown):
        return no_update
    return f"{edits.told}."


def _register_bulk(app: Dash, services: Services) -> None:
    """Bind the controls that edit many tests."""
    search = State(TestsIds.SEARCH, "data")

    @on_data(
        app,
        Output(TestsIds.ACTION, "data"),
        Output(TestsIds.SCOPE, "children"),
        Output(TestsIds.UNDO, "disabled"),
        Output(TestsIds.EDITED, "children"),
        Input(TestsIds.SEARCH, "data"),
        Input(TestsIds.WAIT, "disabled"),
        State(TestsIds.EDITED, "children"),
    )
    def _offer(search: str, _is_current: bool | None, shown: str | dict[str, Any] | None) -> Any:
        edits, found = services.edits, list_found_tests(services, search)
        scope, actions = describe_scope(found, TestUrl.read(search)), services.files.workspace()
        return list_actions(actions), scope, not edits.last, tell_edit(edits, shown)

    outputs = (
        Output(TestsIds.EDITED, "children", allow_duplicate=True),
        Output(ShellIds.VERSION, "data", allow_duplicate=True),
        Output(TestsIds.SEARCH, "data", allow_duplicate=True),
        Output(TestsIds.ACTION, "value", allow_duplicate=True),
    )
    action, tag = State(TestsIds.ACTION, "value"), State(TestsIds.TAG, "value")

    def show_busy(button: str) -> list[tuple[Output, bool, bool]]:
        return [(Output(button, "loading"), True, False)]

    @on_click(app, TestsIds.APPLY, *outputs, search, action, tag, running=show_busy(TestsIds.APPLY))
    def _apply(search: str, action: str | None, tag: str | None) -> Any:
        shown, is_changed = apply_edit(services, search, action, tag)
        if not is_changed:
            return shown, *leave_unchanged(outputs[1:])
        # Ticks stay: without any, the next edit would change all that is shown.
        url = TestUrl.read(search)
        kept = url.change(ticked=()) if action == "delete" else url
        return shown, services.version(), kept.search, None

    @on_click(app, TestsIds.UNDO, *outputs, running=show_busy(TestsIds.UNDO))
    def _undo() -> Any:
        shown, is_changed = undo_edit(services)
        return shown, services.version() if is_changed else no_update, no_update, no_update
