"""Handlers of the results table: one page of rows at a time, and all of them as a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.bindings import bind_file
from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.pages.model.query import query_of, sorted_as
from poor_bench.dashboard.pages.model.results import CSV_COLUMNS, csv_rows, result_rows
from poor_bench.dashboard.scripts import bind_script
from poor_bench.messages import counted, removed_tests_text
from poor_bench.reports.csv_table import csv_text

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services


def page_of_rows(services: Services, search: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the rows that AG Grid asks for.

    Args:
        services: Where they are found.
        search: The filters as a query.
        request: First and last row, and sorting, as AG Grid sends them.
    """
    found = services.find(sorted_as(query_of(search), request.get("sortModel")))
    start, end = int(request.get("startRow", 0)), int(request.get("endRow", 0))
    tests = services.workspace().tests_by_id
    rows = result_rows(found.table, tests, found.rows[max(0, start) : max(0, end)])
    return {"rowData": rows, "rowCount": len(found)}


def count_note(services: Services, search: str) -> str:
    """Return how many results the filters find."""
    query = query_of(search)
    n_found = len(services.find(query))
    n_all = len(services.stored().rows_of(query.llm_id))
    n_removed = n_all - len(services.table().rows_of(query.llm_id))
    removed = f" {removed_tests_text(n_removed)}." if n_removed else ""
    if n_found == n_all:
        return f"{counted(n_all, 'result')}. Choose a result to see its details.{removed}"
    return f"{n_found:,} of {counted(n_all, 'result')} match the filters.{removed}"


def results_csv(services: Services, search: str | None, sort: list[dict[str, Any]] | None) -> Any:
    """Return all results that the filters find as a file."""
    found = services.find(sorted_as(query_of(search), sort))
    rows = csv_rows(found.table, services.workspace().tests_by_id, found.rows)
    return text_file("results.csv", csv_text(CSV_COLUMNS, rows))


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(Ids.RESULTS, "getRowsResponse"),
        Output(Ids.SORT, "data"),
        Input(Ids.RESULTS, "getRowsRequest"),
        State(Ids.QUERY, "data"),
        prevent_initial_call=True,
    )
    def _answer(request: dict[str, Any] | None, search: str | None) -> Any:
        if request is None or search is None:
            return {"rowData": [], "rowCount": 0}, no_update
        return page_of_rows(services, search, request), request.get("sortModel")

    @app.callback(
        Output(Ids.COUNT, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
    )
    def _count(version: str | None, search: str | None) -> Any:
        return no_update if version is None or search is None else count_note(services, search)

    bind_script(
        app,
        "grid",
        "ask_again",
        Output(Ids.RESULTS, "id"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
        prevent_initial_call=True,
    )

    bind_file(
        app,
        Ids.DOWNLOAD,
        Ids.RESULTS_CSV,
        partial(results_csv, services),
        State(Ids.QUERY, "data"),
        State(Ids.SORT, "data"),
    )
