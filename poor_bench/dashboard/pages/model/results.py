"""The results, one page of rows at a time, the panel of the selected one, and all as a file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from dash import Dash, Input, Output, State, ctx, no_update

from poor_bench import metrics
from poor_bench.dashboard.components.grids import choose_columns, name_unseen
from poor_bench.dashboard.components.tables import still, trees
from poor_bench.dashboard.page import ShellIds, bind_script, on_click, on_data
from poor_bench.dashboard.pages.model.layout import COLUMNS, ModelIds
from poor_bench.dashboard.pages.model.url import ModelUrl, read_selected_key, row_id, sort_query
from poor_bench.dashboard.result_panel.frame import PanelIds, register_panel
from poor_bench.dashboard.result_panel.panel import build_panel, build_title
from poor_bench.dashboard.result_panel.rating_bar import RatingIds
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
    from dash.development.base_component import Component

    from poor_bench.results.table import TrialKey

_FILE_HEADINGS = {"test_category": "Class", "execution_time": metrics.MEAN_TIME.file_heading}
"""Of columns that the specification calls otherwise on the screen."""
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
    """Build the rows that AG Grid asks for.

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
    skipped = f" {n_skipped:,} of removed or disabled tests excluded." if n_skipped else ""
    if n_found == n_all:
        return f"{write_count(n_all, 'result')}.{skipped}"
    return f"{n_found:,} of {write_count(n_all, 'result')} shown.{skipped}"


def results_csv(
    services: Services, search: str | None, sort: list[dict[str, Any]] | None, view: str | None = ""
) -> TableFile:
    """Write all results that the filters find as a file: the shown columns, and the answers."""
    query = ModelUrl.read(search).query
    found, rated = (
        services.trials.find(sort_query(query, sort)),
        services.ratings.of_llm(query.llm_id),
    )
    tests, check = services.files.workspace().tests_by_id, services.results.check_stale()
    rows = csv_rows(found.table, tests, found.rows, rated, check.find_reason)
    shown = choose_columns(COLUMNS, GridUrl.read(view))
    named = [(field, _FILE_HEADINGS.get(field, heading)) for field, heading in shown]
    return table_file("results", rows, [*named, *_FILE_COLUMNS])


def register_results(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @app.callback(
        Output(ModelIds.RESULTS, "getRowsResponse"),
        Output(ModelIds.SORT, "data"),
        Output(ModelIds.COUNT, "children"),
        Input(ModelIds.RESULTS, "getRowsRequest"),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        prevent_initial_call=True,
    )
    def _answer(request: dict[str, Any] | None, search: str | None, sort: SortModel) -> Any:
        if request is None or search is None:
            return {"rowData": [], "rowCount": 0}, no_update, no_update
        found, now = page_of_rows(services, search, request), request.get("sortModel") or []
        return found, no_update if now == sort else now, count_note(services, search)

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


SortModel = list[dict[str, Any]] | None


class Shown(NamedTuple):
    """What the panel and the stores around it hold."""

    title: list[Component]
    position: str
    is_first: bool
    is_last: bool
    body: list[Component]
    place: Any
    """The trial with its place in the table, which may be None."""
    opened: Any
    """The result for `PanelIds.OPEN`."""


def find_chosen_trial(services: Services, llm_id: str, selected: object) -> TrialKey | None:
    """Find the trial that a store names, its failure for its score or the other way round.

    It may be pending; None for none.
    """
    key = read_selected_key(selected)
    if key is None:
        return None
    table = services.results.read_stored()
    candidates = (key, key._replace(is_failure=not key.is_failure))
    return next((each for each in candidates if table.find(llm_id, each) is not None), key)


def neighbour(
    services: Services, search: str, sort: SortModel, selected: object, step: int
) -> TrialKey | None:
    """Find the trial `step` rows further in the table; None where there is none."""
    query = ModelUrl.read(search).query
    key = find_chosen_trial(services, query.llm_id, selected)
    found = services.trials.find(sort_query(query, sort))
    place = found.find_place(key) if key is not None else None
    return None if place is None else found.key_at(place + step)


def build_shown_details(
    services: Services, search: str, sort: SortModel, selected: object
) -> Shown:
    """Build the panel of the selected trial, also of a pending one; empty if none is known."""
    query = ModelUrl.read(search).query
    key = find_chosen_trial(services, query.llm_id, selected)
    panel = services.panel.read(query.llm_id, key) if key is not None else None
    if key is None or panel is None:
        return Shown([], "", True, True, [], None, None)
    title, body = build_title(panel), [build_panel(panel, services.llms.name)]
    if panel.is_pending:
        return Shown(title, "", True, True, body, None, None)
    found = services.trials.find(sort_query(query, sort))
    place = found.find_place(key)
    opened = [query.llm_id, *key]
    if place is None:
        return Shown(title, "", True, True, body, [*key, None], opened)
    position = f"{place + 1:,} of {len(found):,}"
    is_last = place + 1 == len(found)
    return Shown(title, position, place == 0, is_last, body, [*key, place], opened)


def bar_to_selected(services: Services, search: str, click: dict[str, Any]) -> list[Any] | None:
    """Find the first trial of the test whose bar was chosen."""
    [test_id, *_] = click["points"][0]["customdata"]
    found = services.trials.find(ModelUrl.read(search).query)
    keys = (found.key_at(place) for place in range(len(found)))
    key = next((key for key in keys if key is not None and key.test_id == test_id), None)
    return None if key is None else list(key)


def register_details(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    bind_script(
        app,
        "model",
        "select_row",
        Output(ModelIds.SELECTED, "data"),
        Input(ModelIds.RESULTS, "selectedRows"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(ModelIds.SELECTED, "data", allow_duplicate=True),
        Input(ModelIds.CHART_GRAPH, "clickData"),
        State(ModelIds.QUERY, "data"),
        prevent_initial_call=True,
    )
    def _select_bar(click: dict[str, Any] | None, search: str) -> Any:
        return no_update if not click else bar_to_selected(services, search, click) or no_update

    @on_click(
        app,
        (PanelIds.PREVIOUS, PanelIds.NEXT),
        Output(ModelIds.SELECTED, "data", allow_duplicate=True),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(ModelIds.SELECTED, "data"),
    )
    def _step(search: str, sort: SortModel, selected: object) -> Any:
        step = -1 if ctx.triggered_id == PanelIds.PREVIOUS else 1
        key = neighbour(services, search, sort, selected, step)
        return no_update if key is None else list(key)

    @on_click(app, PanelIds.CLOSE, Output(ModelIds.SELECTED, "data", allow_duplicate=True))
    def _close() -> Any:
        return None

    _register_panel(app, services)
    register_panel(app, services)


def _register_panel(app: Dash, services: Services) -> None:
    bind_script(
        app,
        "model",
        "rate",
        Output(RatingIds.TARGET, "data"),
        Input(ModelIds.OPEN, "data"),
        State(ModelIds.LLM, "value"),
        prevent_initial_call=True,
    )
    bind_script(
        app, "grid", "mark_open", Output(ModelIds.RESULTS, "id"), Input(ModelIds.OPEN, "data")
    )

    @on_data(
        app,
        Output(PanelIds.TITLE, "children"),
        Output(PanelIds.POSITION, "children"),
        Output(PanelIds.PREVIOUS, "disabled"),
        Output(PanelIds.NEXT, "disabled"),
        Output(PanelIds.BODY, "trees"),
        Output(ModelIds.OPEN, "data"),
        Output(PanelIds.OPEN, "data"),
        Input(ModelIds.SELECTED, "data"),
        Input(ModelIds.FOLLOW, "data"),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SORT, "data"),
        State(ModelIds.OPEN, "data"),
        State(PanelIds.OPEN, "data"),
    )
    def _show(
        selected: object,
        _follow: int | None,
        search: str | None,
        sort: SortModel,
        place: list[Any] | None,
        opened: list[Any] | None,
    ) -> Any:
        if search is None:
            return (no_update,) * 7
        shown = build_shown_details(services, search, sort, selected)
        return shown._replace(
            title=still(shown.title),
            body=trees(shown.body),
            place=no_update if shown.place == place else shown.place,
            opened=no_update if shown.opened == opened else shown.opened,  # keeps what is typed
        )
