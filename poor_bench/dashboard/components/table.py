"""Tables: AG Grid with the settings that all pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
from dash import html

from poor_bench.dashboard.components.attributes import aria

if TYPE_CHECKING:
    from dash.development.base_component import Component

_LEAVE_TABLE = {"function": "false"}
"""Tab goes on behind the table, arrows move within it: a table is no chain of a thousand stops."""
_OPTIONS: dict[str, Any] = {
    "rowHeight": 38,
    "headerHeight": 36,
    "animateRows": False,
    "ensureDomOrder": True,
    "enableCellTextSelection": True,
    "suppressColumnVirtualisation": True,
    "tooltipShowDelay": 400,
    "suppressDragLeaveHidesColumns": True,
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


def small_table(
    table_id: str,
    label: str,
    columns: Sequence[Mapping[str, Any]],
    *,
    rows: Sequence[Mapping[str, Any]] = (),
    row_id: str = "id",
) -> Component:
    """Return a table whose rows are all in the browser: for tens of rows, as high as they are.

    Args:
        table_id: Id of the grid.
        label: What screen readers call it.
        columns: AG Grid column definitions.
        rows: One mapping for each row.
        row_id: Field that tells rows apart, so that an update keeps scroll and selection.
    """
    grid = dag.AgGrid(
        id=table_id,
        columnDefs=list(columns),
        rowData=list(rows),
        defaultColDef=_COLUMN,
        getRowId=f"params.data.{row_id}",
        dashGridOptions={**_OPTIONS, "domLayout": "autoHeight"},
        className="grid",
        style={"height": None, "width": "100%"},
    )
    return html.Div(grid, role="group", className="table", **aria(label=label))


def paged_table(
    table_id: str,
    label: str,
    columns: Sequence[Mapping[str, Any]],
    *,
    page_size: int = 50,
    height: str = "640px",
) -> Component:
    """Return a table of any size: the browser asks for the rows of one page at a time.

    Its rows come from a callback from `getRowsRequest` to `getRowsResponse`; sorting happens
    there too.
    """
    grid = dag.AgGrid(
        id=table_id,
        columnDefs=list(columns),
        defaultColDef=_COLUMN,
        rowModelType="infinite",
        getRowId="params.data.id",
        dashGridOptions={
            **_OPTIONS,
            "pagination": True,
            "paginationPageSize": page_size,
            "paginationPageSizeSelector": [25, 50, 100],
            "cacheBlockSize": 50,
            "rowBuffer": 4,
            "maxBlocksInCache": 10,
            "rowSelection": {
                "mode": "singleRow",
                "checkboxes": False,
                "enableClickSelection": True,
            },
            "localeText": {"noRowsToShow": "No results match these filters."},
        },
        rowClassRules={"is-open": "params.context && params.context.open === params.node.id"},
        className="grid",
        style={"height": height, "width": "100%"},
    )
    return html.Div(grid, role="group", className="table", **aria(label=label))
