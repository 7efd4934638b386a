"""Tables: AG Grid with the settings of all pages, and large plain content as one component.

Dash lets every component look at every change of the page, so a table of a thousand cells makes
each click slow. What has no id and no callback of its own is therefore drawn by one component of
ours, `assets/still.js`, from a tree of plain lists: tag, attributes, children.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


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
    below: Sequence[Mapping[str, Any]] = (),
) -> Component:
    """Return a table whose rows are all in the browser: for tens of rows, as high as they are.

    Args:
        table_id: Id of the grid.
        label: What screen readers call it.
        columns: AG Grid column definitions.
        rows: One mapping for each row.
        row_id: Field that tells rows apart, so that an update keeps scroll and selection.
        below: Grey rows that stay at the end, however the others are sorted.
    """
    options = {**_OPTIONS, "domLayout": "autoHeight"}
    if below:
        options |= {"pinnedBottomRowData": list(below)}
    grid = dag.AgGrid(
        id=table_id,
        columnDefs=list(columns),
        rowData=list(rows),
        defaultColDef=_COLUMN,
        getRowId=f"params.data.{row_id}",
        dashGridOptions=options,
        className="grid",
        style={"height": None, "width": "100%"},
    )
    return html.Div(grid, role="group", className="table", **aria(label=label))


def build_paged_table(
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


_WIRED = frozenset({"id", "n_clicks"})
Tree = list[Any]
"""Tag, attributes, and any number of children: trees, or texts."""


def still(content: Any, *, search: str = "") -> Any:
    """Return elements that look the same and cost as much as one component.

    Characters that cannot be seen, or that reorder a text, are named in it; see `harmless`.

    Args:
        content: Components of `dash.html` and links to pages, one or a list; None stays None.
        search: The query of the address that `content` was made for: its links change only what
            they are about, even where the reader has chosen something else in the meantime.

    Raises:
        TypeError: If a component is of another kind or refers to a callback.
    """
    if content is None:
        return None
    return {
        "namespace": "poor_bench",
        "type": "Still",
        "props": {"trees": list(_children(content)), "search": search},
    }


def _children(content: Any) -> Iterator[Tree | str | None]:
    """Yield what stands in an element; nothing keeps its place, as React knows children by it."""
    if isinstance(content, list | tuple):
        for child in content:
            yield from _children(child)
    elif isinstance(content, Component):
        yield _tree(content)
    else:
        yield None if content is None else harmless(str(content))


def _tree(component: Any) -> Tree:
    told = component.to_plotly_json()
    attributes = told["props"]
    is_link = isinstance(component, dcc.Link)
    if not is_link and told["namespace"] != "dash_html_components":
        raise TypeError(f"{told['type']} is more than an element")
    wired = _WIRED & attributes.keys()
    if wired:
        raise TypeError(f"{told['type']} is wired by {', '.join(sorted(wired))}")
    children = attributes.pop("children", None)
    if is_link:
        attributes |= data(page_link="")
    return ["a" if is_link else told["type"].lower(), attributes, *_children(children)]


def sheet(
    heads: Iterable[Any],
    rows: Iterable[Component],
    *,
    label: str = "",
    kind: str = "sheet",
    above: Any = None,
) -> Component:
    """Build a plain table that scrolls sideways.

    Args:
        heads: Headings: a text, a text with its hint, or a component.
        rows: From `row`.
        label: Its name for screen readers.
        kind: CSS classes; the first one plus `-frame` is that of the frame.
        above: Stands in the frame, above the table.
    """
    table = html.Table(
        [html.Thead(html.Tr([_head(head) for head in heads])), html.Tbody(list(rows))],
        className=kind,
    )
    named = {"role": "region", **aria(label=label)} if label else {}
    return html.Div(
        [above, table] if above is not None else table,
        className=f"{kind.split(maxsplit=1)[0]}-frame",
        tabIndex="0",
        **named,
    )


def row(head: Any, *cells: Any, is_open: bool = False, class_name: str = "") -> Component:
    """Build a row of a `sheet`.

    Args:
        head: What names the row: the heading cell, or its content.
        cells: Cells, or their contents.
        is_open: True for the row whose details are open.
        class_name: Further CSS class.
    """
    first = head if isinstance(head, html.Th) else html.Th(head, scope="row")
    others = [cell if isinstance(cell, html.Td) else html.Td(cell) for cell in cells]
    classes = f"{'is-open ' if is_open else ''}{class_name}".strip()
    return html.Tr([first, *others], className=classes or None)


def number(text: str) -> Component:
    """Build a cell with a figure."""
    return html.Td(text, className="number")


def quiet(content: Any, class_name: str = "") -> Component:
    """Build a cell with what matters less."""
    return html.Td(content, className=f"quiet {class_name}".strip())


def _head(head: Any) -> Component:
    if isinstance(head, html.Th):
        return head
    text, hint = head if isinstance(head, tuple) else (head, None)
    return html.Th(text, scope="col", title=hint or None)
