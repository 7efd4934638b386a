"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.bindings import bind_address, bind_file, bind_view
from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.components.llm_options import llm_options
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.compare.ids import CompareIds as Ids
from poor_bench.dashboard.pages.compare.layout import nothing_yet
from poor_bench.dashboard.pages.compare.selection import selection_of
from poor_bench.dashboard.pages.compare.strip import strip
from poor_bench.dashboard.pages.compare.strip_rows import STRIP_COLUMNS, strip_rows
from poor_bench.dashboard.pages.compare.view import CompareView
from poor_bench.dashboard.services.compare_service import CompareService
from poor_bench.messages import counted
from poor_bench.reports.csv_table import csv_text

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

_CLASS_COLUMNS = ("class_id", "llm_id", "score", "difference", "low", "high")


def view_of(services: Services, compare: CompareService, search: str | None) -> CompareView:
    """Return the state of the page that an address describes."""
    return CompareView(services, compare, selection_of(search))


def search_after(search: str | None, llm_ids: list[str] | None, text: str | None) -> str:
    """Return the query part of the address after a choice."""
    selection = selection_of(search)
    chosen, words = tuple(llm_ids or ()), (text or "").strip()
    if (chosen, words) == (selection.llm_ids, selection.text):
        return selection.search
    return selection.changed(llm_ids=chosen, text=words).search


def show_strip(
    services: Services, compare: CompareService, search: str | None
) -> tuple[Any, Any, bool]:
    """Return a line about the comparison, the LLMs, and whether all is computed."""
    view = view_of(services, compare, search)
    if not view.columns:
        return "", nothing_yet(), True
    answer = compare.comparison(view.columns)
    lines = view.strip_lines(answer.value)
    others = counted(len(view.columns) - 1, "model")
    note = f"{others} compared with the baseline {services.name(view.columns[0])}"
    table = strip(lines, view.selection, is_ready=answer.value is not None)
    return note, table, answer.is_current


def show_tests(
    services: Services, compare: CompareService, search: str | None
) -> tuple[Any, Any, Any]:
    """Return the scores by class, the switches, and a page of the tests."""
    view = view_of(services, compare, search)
    if not view.columns:
        return None, None, None
    return view.classes(), view.chips(), view.tests()


def show_panel(services: Services, compare: CompareService, search: str | None) -> Any:
    """Return the test that is open, or nothing."""
    view = view_of(services, compare, search)
    return view.panel() if view.columns and view.selection.test else None


def strip_csv(services: Services, compare: CompareService, search: str | None) -> Any:
    """Return the comparison of the LLMs as a file."""
    view = view_of(services, compare, search)
    if not view.columns:
        return no_update
    lines = view.strip_lines(compare.comparison(view.columns).value)
    return text_file("comparison.csv", csv_text(STRIP_COLUMNS, strip_rows(lines)))


def classes_csv(services: Services, compare: CompareService, search: str | None) -> Any:
    """Return the scores by class as a file."""
    view = view_of(services, compare, search)
    if not view.columns:
        return no_update
    columns = [(name, name) for name in _CLASS_COLUMNS]
    return text_file("compared_classes.csv", csv_text(columns, view.class_rows()))


def tests_csv(services: Services, compare: CompareService, search: str | None) -> Any:
    """Return the scores of all tests that the filters find as a file."""
    view = view_of(services, compare, search)
    if not view.columns:
        return no_update
    columns = [(name, name) for name in ("test_id", *view.columns)]
    return text_file("compared_tests.csv", csv_text(columns, view.score_rows()))


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    compare = CompareService(services)
    _register_state(app, services, compare)
    _register_parts(app, services, compare)
    _register_files(app, services, compare)


def _register_state(app: Dash, services: Services, compare: CompareService) -> None:
    @app.callback(
        Output(Ids.LLMS, "data"), Input(ShellIds.VERSION, "data"), State(Ids.LLMS, "value")
    )
    def _options(version: str | None, chosen: list[str] | None) -> Any:
        if version is None:
            return no_update
        return llm_options(compare.best_first(), chosen or (), services.name)

    @app.callback(
        Output(Ids.SEARCH, "data"),
        Input(Ids.LLMS, "value"),
        Input(Ids.TEXT, "value"),
        State(Ids.SEARCH, "data"),
        prevent_initial_call=True,
    )
    def _choose(llm_ids: list[str] | None, text: str | None, search: str) -> str:
        return search_after(search, llm_ids, text)

    bind_address(app, Ids.SEARCH)


def _register_parts(app: Dash, services: Services, compare: CompareService) -> None:
    @app.callback(
        Output(Ids.NOTE, "children"),
        Output(Ids.STRIP, "children"),
        Output(Ids.WAIT, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.SEARCH, "data"),
        Input(Ids.WAIT, "n_intervals"),
    )
    def _show_strip(version: str | None, search: str, _waited: int | None) -> Any:
        if version is None:
            return (no_update,) * 3
        note, lines, is_ready = show_strip(services, compare, search)
        return note, still(lines, search=search), is_ready

    def draw_tests(search: str) -> tuple[Any, ...]:
        return tuple(still(part, search=search) for part in show_tests(services, compare, search))

    bind_view(app, Ids.SEARCH, (Ids.CLASSES, Ids.CHIPS, Ids.TESTS), draw_tests)
    bind_view(
        app, Ids.SEARCH, (Ids.DETAILS,), lambda search: (show_panel(services, compare, search),)
    )


def _register_files(app: Dash, services: Services, compare: CompareService) -> None:
    for button, content in (
        (Ids.STRIP_CSV, strip_csv),
        (Ids.CLASSES_CSV, classes_csv),
        (Ids.TESTS_CSV, tests_csv),
    ):
        file = partial(content, services, compare)
        bind_file(app, Ids.DOWNLOAD, button, file, State(Ids.SEARCH, "data"))
