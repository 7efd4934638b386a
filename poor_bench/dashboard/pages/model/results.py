"""The results table: one page of rows at a time, and all of them as a file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench.dashboard.components.grids import choose_columns, name_unseen
from poor_bench.dashboard.page import ShellIds, bind_script
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.dashboard.pages.model.layout import COLUMNS
from poor_bench.dashboard.pages.model.url import ModelUrl, row_id, sort_query
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.dashboard.text.safe_markdown import one_line_markdown
from poor_bench.dashboard.url_state import GridUrl
from poor_bench.messages import write_count
from poor_bench.metrics.trust import list_trial_notes
from poor_bench.results.query import think_to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.services import Services
    from poor_bench.labels.ratings import AnswerRatings
    from poor_bench.metrics.trust import TrustNote
    from poor_bench.models.result import Result
    from poor_bench.models.test import Test
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.summary import StaleReason

    FindNotes = Callable[[ResultTable, Sequence[int]], Sequence[tuple[TrustNote, ...]]]


_FILE_COLUMNS = (
    ("status", "Status"),
    ("level", "Level"), ("trial", "Trial"), ("failure", "Failure"), ("response", "Response"),
)  # fmt: skip


def result_rows(
    table: ResultTable,
    tests: Mapping[str, Test],
    rows: Iterable[int],
    rated: Mapping[int, AnswerRatings] = MappingProxyType({}),
    find_notes: FindNotes | None = None,
) -> list[dict[str, Any]]:
    """Build the rows of some results; details are harmless Markdown on one line.

    Args:
        table: All results.
        tests: By test id.
        rows: Rows of the table.
        rated: People's ratings by row.
        find_notes: Lists what lessens the trust in each of some rows of a table.
    """
    chosen = [int(row) for row in rows]
    notes_of_rows = find_notes(table, chosen) if find_notes else [()] * len(chosen)
    texts = table.text_columns(chosen, [_SHOWN.format("details"), _SHOWN.format("failure_message")])
    return [
        _common(table, tests, row)
        | {
            "rating": _rating(rated, row),
            "notes": notes,
            "details": one_line_markdown(_details(table.value("failure_kind", row), *each)),
            "id": row_id(table.key(row)),
            "key": list(table.key(row)),
        }
        for row, each, notes in zip(chosen, texts, notes_of_rows, strict=True)
    ]


_SHOWN = "left({}, 2000)"
"""A cell shows less; the whole text may have megabytes."""


def csv_rows(
    table: ResultTable,
    tests: Mapping[str, Test],
    rows: Sequence[int] | NDArray[np.int64],
    rated: Mapping[int, AnswerRatings] = MappingProxyType({}),
    find_reason: Callable[[Result], StaleReason | None] = lambda _: None,
) -> Iterable[dict[str, Any]]:
    """Yield the same with all texts as they are."""
    for row, result in zip(rows, table.whole(rows), strict=True):
        test = tests.get(result.test_id)
        notes = list_trial_notes(result.failure, find_reason(result))
        yield _common(table, tests, int(row)) | {
            "rating": _rating(rated, int(row)),
            "status": ", ".join(note.text for note in notes),
            "details": result.details,
            "level": test.level if test else None,
            "failure": result.failure.message if result.failure else "",
            "response": result.response,
        }


def _rating(rated: Mapping[int, AnswerRatings], row: int) -> float | None:
    """Mean score that people give; None without one."""
    given = rated.get(row)
    return None if given is None else given.mean


def _common(table: ResultTable, tests: Mapping[str, Test], row: int) -> dict[str, Any]:
    key = table.key(row)
    test = tests.get(key.test_id)
    time_ms = table.number("execution_time_ms", row)
    return {
        "test_id": key.test_id,
        "trial": key.trial,
        "is_failure": key.is_failure,
        "score": table.number("score", row),
        "test_category": test.class_id if test else "(removed)",
        "execution_time": None if time_ms is None else time_ms / 1000,
        "think": think_to_text(table.value("think", row)),
    }


def _details(kind: str | None, details: str | None, failure: str | None) -> str:
    return f"Failed to run ({kind}): {failure or ''}" if kind else details or ""


def page_of_rows(services: Services, search: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the rows that AG Grid asks for.

    Args:
        services: Where they are found.
        search: The filters as a query.
        request: First and last row, and sorting, as AG Grid sends them.
    """
    query = ModelUrl.read(search).query
    found = services.trials.find(sort_query(query, request.get("sortModel")))
    start, end = int(request.get("startRow", 0)), int(request.get("endRow", 0))
    tests = services.files.workspace().tests_by_id
    rated = services.ratings.of_llm(query.llm_id)
    rows = result_rows(
        found.table,
        tests,
        found.rows[max(0, start) : max(0, end)],
        rated,
        services.results.trial_notes,
    )
    return {"rowData": name_unseen(rows), "rowCount": len(found)}


def count_note(services: Services, search: str) -> str:
    """Write the number of results that the filters find."""
    query = ModelUrl.read(search).query
    n_found = len(services.trials.find(query))
    n_all = len(services.results.read_stored().find_rows(query.llm_id))
    n_skipped = n_all - len(services.results.table().find_rows(query.llm_id))
    skipped = f" {n_skipped:,} of removed or disabled tests not counted." if n_skipped else ""
    if n_found == n_all:
        return f"{write_count(n_all, 'result')}.{skipped}"
    return f"{n_found:,} of {write_count(n_all, 'result')} match the filters.{skipped}"


def results_csv(
    services: Services, search: str | None, sort: list[dict[str, Any]] | None, view: str | None = ""
) -> TableFile:
    """Return all results that the filters find as a file: the shown columns, and the answers."""
    query = ModelUrl.read(search).query
    found, rated = (
        services.trials.find(sort_query(query, sort)),
        services.ratings.of_llm(query.llm_id),
    )
    tests, check = services.files.workspace().tests_by_id, services.results.check_stale()
    rows = csv_rows(found.table, tests, found.rows, rated, check.find_reason)
    return table_file(
        "results", rows, [*choose_columns(COLUMNS, GridUrl.read(view)), *_FILE_COLUMNS]
    )


def register_results(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(ModelIds.RESULTS, "getRowsResponse"),
        Output(ModelIds.SORT, "data"),
        Input(ModelIds.RESULTS, "getRowsRequest"),
        State(ModelIds.QUERY, "data"),
        prevent_initial_call=True,
    )
    def _answer(request: dict[str, Any] | None, search: str | None) -> Any:
        if request is None or search is None:
            return {"rowData": [], "rowCount": 0}, no_update
        return page_of_rows(services, search, request), request.get("sortModel")

    bind_script(
        app,
        "grid",
        "ask_again",
        Output(ModelIds.RESULTS, "id"),
        Input(ShellIds.VERSION, "data"),
        Input(ModelIds.QUERY, "data"),
        prevent_initial_call=True,
    )

    bind_files(
        app,
        services,
        ModelIds.DOWNLOAD,
        {ModelIds.RESULTS_CSV: results_csv},
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(ModelIds.VIEW, "data"),
    )
