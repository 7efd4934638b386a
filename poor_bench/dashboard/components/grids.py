"""Tables whose rows are sorted, and whose columns are chosen, by the reader: AG Grid.

What the reader chose stands in the address: `assets/grid_view.js` writes it, `GridUrl` reads it. A
file of the table holds the same columns and rows in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_ag_grid as dag
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.url_state import GridUrl
from poor_bench.messages import harmless

_LEAVE_TABLE = {"function": "false"}
"""Tab goes on behind the table, arrows move within it: a table is not a thousand stops."""
_OPTIONS: dict[str, Any] = {
    "rowHeight": 38,
    "headerHeight": 36,
    "animateRows": False,
    "ensureDomOrder": True,
    "enableCellTextSelection": True,
    "suppressColumnVirtualisation": True,
    "tooltipShowDelay": 400,
    "suppressDragLeaveHidesColumns": True,
    "localeText": {"noRowsToShow": "Nothing matches these filters."},
    "tabToNextCell": _LEAVE_TABLE,
    "tabToNextHeader": _LEAVE_TABLE,
}
_COLUMN: dict[str, Any] = {
    "sortable": True,
    "resizable": True,
    "suppressHeaderMenuButton": True,
    "wrapHeaderText": True,
    "autoHeaderHeight": True,
}
_EVENTS = ("sortChanged", "columnVisible", "columnMoved", "paginationChanged")
PAGE_SIZES = (25, 50, 100)
PAGE_SIZE = 50

Columns = list[dict[str, Any]]
"""AG Grid column definitions."""


def small_table(
    table_id: str,
    label: str,
    columns: Sequence[Mapping[str, Any]],
    *,
    rows: Sequence[Mapping[str, Any]] = (),
    row_id: str = "id",
    below: Sequence[Mapping[str, Any]] = (),
    view: GridUrl | None = None,
    view_id: str = "",
    **options: Any,
) -> Component:
    """Build a table whose rows are all in the browser: for hundreds, as high as a page of them.

    Args:
        table_id: Id of the grid.
        label: What screen readers call it.
        columns: AG Grid column definitions.
        rows: One mapping for each row.
        row_id: Field that tells rows apart, so that an update keeps scroll and selection.
        below: Grey rows that stay at the end, however the others are sorted.
        view: What the address says about the table.
        view_id: The store of `view_store`; empty if the view is not kept.
        options: Further options of AG Grid.
    """
    more = {"domLayout": "autoHeight", **options}
    if below:
        more["pinnedBottomRowData"] = name_unseen(below)
    if len(rows) > min(PAGE_SIZES):
        more |= _paging(view or GridUrl())
    grid = _grid(table_id, columns, view, view_id, more)
    grid.rowData, grid.getRowId = name_unseen(rows), f"params.data.{row_id}"
    grid.style = {"height": None, "width": "100%"}
    return _frame(grid, label, columns, view_id)


def build_paged_table(
    table_id: str,
    label: str,
    columns: Sequence[Mapping[str, Any]],
    *,
    view: GridUrl | None = None,
    view_id: str = "",
) -> Component:
    """Build a table of any size: the browser asks for the rows of one page at a time.

    Its rows come from a callback from `getRowsRequest` to `getRowsResponse`; sorting happens
    there too.
    """
    options = {
        **_paging(view or GridUrl()),
        "cacheBlockSize": 50,
        "rowBuffer": 4,
        "maxBlocksInCache": 10,
        "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
    }
    grid = _grid(table_id, columns, view, view_id, options)
    grid.rowModelType, grid.getRowId = "infinite", "params.data.id"
    grid.rowClassRules = {"is-open": "params.context && params.context.open === params.node.id"}
    grid.style = {"height": "100%", "width": "100%"}
    return _frame(grid, label, columns, view_id)


def name_unseen(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Name the characters of texts in rows that cannot be seen; ids and addresses stay."""
    return [
        {
            field: harmless(value) if isinstance(value, str) and field not in _EXACT else value
            for field, value in row.items()
        }
        for row in rows
    ]


_EXACT = frozenset({"id", "rerun"})
"""Fields that no cell shows."""


def view_store(store_id: str, url: GridUrl) -> Component:
    """Build the store that keeps what the reader chose in a table, as the query of a `GridUrl`."""
    store: Component = dcc.Store(id=store_id, data=url.view.search)
    return store


def column_chooser(table_id: str) -> dict[str, Any]:
    """Build the button that opens the list of columns; `assets/grid_view.js` draws it."""
    return {"namespace": "poor_bench", "type": "ColumnChooser", "props": {"grid": table_id}}


def set_view(columns: Sequence[Mapping[str, Any]], view: GridUrl) -> Columns:
    """Give columns the order, sorting and visibility that the address asks for.

    Fields that the table does not have are ignored.
    """
    return [_mark_sorting(column, view) for column in _order(columns, view)]


def choose_columns(columns: Sequence[Mapping[str, Any]], view: GridUrl) -> list[tuple[str, str]]:
    """List field and heading of the columns that the reader sees, in their order."""
    shown = (column for column in _order(columns, view) if not column.get("hide"))
    return [(column["field"], column["headerName"]) for column in shown if column.get("field")]


def sort_rows(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Mapping[str, Any]], view: GridUrl
) -> list[Mapping[str, Any]]:
    """Sort rows as the table does: what is missing comes first, or last where descending."""
    known = {column.get("field") for column in columns}
    sorting = view.sorting if view.sort else _own_sorting(columns)
    found = list(rows)
    for field, is_descending in reversed([each for each in sorting if each[0] in known]):
        found.sort(key=lambda row: _sort_key(row.get(field)), reverse=is_descending)
    return found


def _sort_key(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (2, value) if isinstance(value, str) else (1, value)


def _grid(
    table_id: str,
    columns: Sequence[Mapping[str, Any]],
    view: GridUrl | None,
    view_id: str,
    options: Mapping[str, Any],
) -> Any:
    listeners = {name: [f"keepView(params, '{table_id}')"] for name in _EVENTS}
    listeners["firstDataRendered"] = [f"turnPage(params, '{table_id}')"]
    return dag.AgGrid(
        id=table_id,
        columnDefs=set_view(columns, view or GridUrl()),
        defaultColDef=_COLUMN,
        dashGridOptions={**_OPTIONS, **options},
        className="grid",
        **({"eventListeners": listeners} if view_id else {}),
    )


def _paging(view: GridUrl) -> dict[str, Any]:
    return {
        "pagination": True,
        "paginationPageSize": view.rows if view.rows in PAGE_SIZES else PAGE_SIZE,
        "paginationPageSizeSelector": list(PAGE_SIZES),
    }


def _frame(
    grid: Component, label: str, columns: Sequence[Mapping[str, Any]], view_id: str
) -> Component:
    """Frame a table; the script compares what the reader chose with what the table starts with."""
    fields = [column["field"] for column in columns if column.get("field")]
    shown = [field for field, _ in choose_columns(columns, GridUrl())]
    sorting = (f"{'-' if down else ''}{field}" for field, down in _own_sorting(columns))
    kept = data(
        grid_view=view_id,
        grid_fields=",".join(fields),
        grid_columns=",".join(shown),
        grid_sort=",".join(sorting),
        grid_rows=str(PAGE_SIZE),
    )
    return html.Div(
        grid, role="group", className="table", **(kept if view_id else {}), **aria(label=label)
    )


def _own_sorting(columns: Sequence[Mapping[str, Any]]) -> list[tuple[str, bool]]:
    return [(each["field"], each["sort"] == "desc") for each in columns if each.get("sort")]


def _order(columns: Sequence[Mapping[str, Any]], view: GridUrl) -> Columns:
    chosen = [name for name in view.columns.split(",") if name]
    places = {name: place for place, name in enumerate(chosen)}
    if not any(column.get("field") in places for column in columns):
        return [dict(column) for column in columns]
    ordered = sorted(columns, key=lambda column: _place(column, places))
    return [
        {**column, "hide": not column.get("lockVisible") and column.get("field") not in places}
        for column in ordered
    ]


def _place(column: Mapping[str, Any], places: Mapping[str, int]) -> int:
    """Place of a column: fixed ones first, then the chosen ones, then those not shown."""
    field = str(column.get("field"))
    if field in places:
        return places[field]
    return -1 if column.get("lockVisible") else len(places)


def _mark_sorting(column: dict[str, Any], view: GridUrl) -> dict[str, Any]:
    """Give a column its part of the sorting."""
    if not view.sort:
        return column
    places = {field: (place, down) for place, (field, down) in enumerate(view.sorting)}
    own = {name: value for name, value in column.items() if name not in {"sort", "sortIndex"}}
    if column.get("field") not in places:
        return {**own, "sort": None}
    place, is_descending = places[column["field"]]
    return {**own, "sort": "desc" if is_descending else "asc", "sortIndex": place}
