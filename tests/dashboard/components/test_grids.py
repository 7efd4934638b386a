"""Tables in the address: sorting, columns, page and rows; files have the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.grids import (
    choose_columns,
    set_view,
    small_table,
    sort_rows,
)
from poor_bench.dashboard.url_state import GridUrl

COLUMNS = (
    {"field": "model", "headerName": "Model", "lockVisible": True},
    {"field": "score", "headerName": "Score", "sort": "desc"},
    {"field": "time", "headerName": "Time", "hide": True},
)
ROWS = [
    {"id": "1", "model": "b", "score": 0.5, "time": None},
    {"id": "2", "model": "a", "score": 0.5, "time": 3.0},
    {"id": "3", "model": "c", "score": None, "time": 1.0},
]


def order(view: GridUrl) -> str:
    return "".join(row["model"] for row in sort_rows(ROWS, COLUMNS, view))


def grid_of(frame: Any) -> Any:
    return frame.children


@pytest.mark.parametrize(
    ("sort", "models"),
    [("", "bac"), ("model", "abc"), ("-score,model", "abc"), ("score", "cba"), ("time", "bca")],
)
def test_files_are_sorted_as_the_table_is(sort: str, models: str) -> None:
    assert order(GridUrl(sort=sort)) == models


def test_cells_name_characters_that_cannot_be_seen_and_ids_stay() -> None:
    frame = small_table("grid", "Models", COLUMNS, rows=[{"id": "a\u202eb", "model": "a\u202eb"}])
    assert grid_of(frame).rowData == [{"id": "a\u202eb", "model": "a⟨U+202E⟩b"}]


def test_what_is_missing_comes_last_where_high_values_come_first() -> None:
    assert order(GridUrl(sort="-time")) == "acb"


def test_chosen_columns_come_in_their_order_behind_the_fixed_one() -> None:
    view = GridUrl(columns="time,unknown")
    assert choose_columns(COLUMNS, view) == [("model", "Model"), ("time", "Time")]
    assert [column.get("hide") for column in set_view(COLUMNS, view)] == [False, False, True]


@pytest.mark.parametrize("columns", ["", "unknown", ",,", "<b>"])
def test_nonsense_leaves_the_columns_of_the_table(columns: str) -> None:
    assert choose_columns(COLUMNS, GridUrl(columns=columns)) == [
        ("model", "Model"),
        ("score", "Score"),
    ]


def test_the_sorting_of_the_address_replaces_that_of_the_table() -> None:
    by_field = {column["field"]: column for column in set_view(COLUMNS, GridUrl(sort="-model"))}
    assert by_field["model"]["sort"] == "desc"
    assert by_field["score"]["sort"] is None


def test_hundreds_of_rows_have_pages_and_few_have_not() -> None:
    rows = [{"id": str(number)} for number in range(100)]
    paged = grid_of(small_table("t", "T", COLUMNS, rows=rows, view=GridUrl(rows=25)))
    assert paged.dashGridOptions["paginationPageSize"] == 25
    odd = grid_of(small_table("t", "T", COLUMNS, rows=rows, view=GridUrl(rows=7)))
    assert odd.dashGridOptions["paginationPageSize"] == 50
    assert "pagination" not in grid_of(small_table("t", "T", COLUMNS, rows=ROWS)).dashGridOptions


def test_the_frame_tells_the_script_what_the_table_starts_with() -> None:
    frame = small_table("t", "T", COLUMNS, rows=ROWS, view_id="view")
    told: dict[str, Any] = frame.to_plotly_json()["props"]
    assert told["data-grid-columns"] == "model,score"
    assert told["data-grid-sort"] == "-score"
    assert told["data-grid-fields"] == "model,score,time"


@given(st.text(max_size=30), st.text(max_size=30), st.integers(0, 999), st.integers(1, 999))
def test_any_view_survives_the_address(sort: str, columns: str, rows: int, page: int) -> None:
    view = GridUrl(sort=sort, columns=columns, rows=rows, page=page)
    assert GridUrl.read(view.search) == view
    set_view(COLUMNS, view)
    sort_rows(ROWS, COLUMNS, view)
