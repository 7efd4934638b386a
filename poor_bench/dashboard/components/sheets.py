"""Plain tables whose order and columns the reader chooses by links, and files of the same content.

What the reader chose stands in the address, see `TablesUrl`. Tables of many rows that the browser
sorts are in `grids.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.components.controls import StayLinks
from poor_bench.dashboard.components.tables import quiet, row, sheet
from poor_bench.dashboard.table_files import TableFile, table_file
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.dashboard.url_values import TableView

R = TypeVar("R")


def in_percent(share: float | None) -> float | None:
    """Scale a share for files, where all shares are in percent; None stays None."""
    return None if share is None else 100 * share


def head_limits(heading: str) -> tuple[str, str]:
    """Name the limits of the confidence interval of a column in files."""
    return f"{heading} 95 % CI low", f"{heading} 95 % CI high"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetColumn(Generic[R]):
    """One column of a table: what sorts it, what its cells show, what files hold.

    Attributes:
        field: Its name in the address.
        heading: What stands above it.
        value: Sorts the rows and stands in files; None where it is missing.
        cell: Content of a cell, or the cell; the text of the value by default.
        hint: Tooltip of the heading.
        file_heading: Heading in files, with its unit, if it differs.
        further: Heading and value of what files hold beside it, such as limits of an interval.
        is_hidden: True if the reader has to choose it.
        is_optional: True if it is shown only where some row has a value, or the reader chose it.
        is_on_screen_only: True if files have no such column, and it sorts nothing.
        is_fixed: True if the reader cannot hide it.
        head: Its heading, where the page sorts in a way of its own.
    """

    field: str
    heading: str
    value: Callable[[R], Any]
    cell: Callable[[R], Any] | None = None
    hint: str = ""
    file_heading: str = ""
    further: Sequence[tuple[str, Callable[[R], Any]]] = ()
    is_hidden: bool = False
    is_optional: bool = False
    is_on_screen_only: bool = False
    is_fixed: bool = False
    head: html.Th | None = None

    def draw(self, line: R) -> Any:
        """Build the cell of a row."""
        if self.cell is not None:
            return self.cell(line)
        value = self.value(line)
        return quiet("n/a") if value is None else f"{value:,}" if type(value) is int else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetTable(Generic[R]):
    """A table: its columns, the first of which names a row and is always shown.

    Attributes:
        name: Its name in the address.
        label: Its name for screen readers.
        columns: In the order in which they stand.
        kept: Heading and value of what only files hold, before the others.
    """

    name: str
    label: str
    columns: Sequence[SheetColumn[R]]
    kept: Sequence[tuple[str, Callable[[R], Any]]] = ()

    def select_shown(self, lines: Sequence[R], view: TableView) -> list[SheetColumn[R]]:
        """List the columns that the reader sees."""
        first, *others = self.columns
        if any(each.field in view.columns for each in self.columns):
            return [first, *(e for e in others if e.is_fixed or e.field in view.columns)]
        return [first, *(each for each in others if _is_usual(each, lines))]

    def sort(self, lines: Sequence[R], view: TableView) -> list[R]:
        """Sort rows as the reader chose; those without a value stand last in both directions."""
        column = next((each for each in self.columns if each.field == view.field), None)
        if column is None:
            return list(lines)
        known = [(column.value(line), line) for line in lines]
        found = [pair for pair in known if pair[0] is not None]
        found.sort(key=lambda pair: _key(pair[0]), reverse=view.is_descending)
        return [line for _, line in found] + [line for value, line in known if value is None]

    def draw(
        self,
        lines: Sequence[R],
        links: StayLinks | None,
        url: TablesUrl,
        *,
        style: Callable[[R], Mapping[str, Any]] = lambda _: {},
        kind: str = "sheet",
        above: Any = None,
        n_shown: int | None = None,
    ) -> Component:
        """Build the table with its list of columns.

        Args:
            lines: Its rows.
            links: Makes the links of the page; None for a table without choices.
            url: State of the page.
            style: Returns what `row` takes further of a row, such as `is_open`.
            kind: CSS classes, as `sheet` takes them.
            above: Stands in the frame, above the table.
            n_shown: Rows to show at most, the first ones in the chosen order; files have all.
        """
        view = url.find_view(self.name)
        shown = self.select_shown(lines, view)
        rows = [
            row(*(column.draw(line) for column in shown), **style(line))
            for line in self.sort(lines, view)[:n_shown]
        ]
        if links is None:
            return sheet([each.heading for each in shown], rows, label=self.label, kind=kind)
        heads = [self._head(column, links, url) for column in shown]
        table = sheet(heads, rows, label=self.label, kind=kind, above=above)
        return html.Div([self.chooser(lines, links, url), table], className="choosable")

    def file(self, name: str, lines: Sequence[R], url: TablesUrl) -> TableFile:
        """Make a file of the shown columns and of what only files hold, in the order shown."""
        return self.join_file(name, [lines], url)

    def join_file(self, name: str, parts: Iterable[Sequence[R]], url: TablesUrl) -> TableFile:
        """Make a file of rows that are read part by part; each part is sorted for itself."""
        view, rows, columns = url.find_view(self.name), [], self._file_columns((), url)
        for lines in parts:
            columns = self._file_columns(lines, url)
            rows += [
                {heading: value(line) for heading, value in columns}
                for line in self.sort(lines, view)
            ]
        return table_file(name, rows, [heading for heading, _ in columns])

    def _file_columns(
        self, lines: Sequence[R], url: TablesUrl
    ) -> list[tuple[str, Callable[[R], Any]]]:
        columns = list(self.kept)
        for column in self.select_shown(lines, url.find_view(self.name)):
            if not column.is_on_screen_only:
                columns += [(column.file_heading or column.heading, column.value), *column.further]
        return columns

    def _head(self, column: SheetColumn[R], links: StayLinks, url: TablesUrl) -> Component:
        if column.head is not None:
            return column.head
        if column.is_on_screen_only:
            return html.Th(column.heading, scope="col", title=column.hint or None)
        view = url.find_view(self.name)
        is_descending = view.is_descending if view.field == column.field else None
        search = url.with_view(view.turn(column.field)).search
        return sort_head(links, column.heading, column.hint, search, is_descending)

    def chooser(self, lines: Sequence[R], links: StayLinks, url: TablesUrl) -> Component:
        """Build the button that opens the list of columns."""
        view = url.find_view(self.name)
        fields = [column.field for column in self.select_shown(lines, view)]
        ticks = [
            _tick(column.heading, links, url.with_view(view.toggle(column.field, fields)),
                  is_shown=column.field in fields)
            for column in self.columns[1:]
            if not column.is_fixed
        ]  # fmt: skip
        usual = url.with_view(view._replace(columns=())).search
        reset = links.link("Reset", usual, className="choose-button")
        return html.Details(
            [
                html.Summary("Columns", className="choose-button"),
                html.Div([*ticks, reset], className="dropdown-list", tabIndex="-1"),
            ],
            className="dropdown",
            **data(list=self.name),
        )


def _tick(text: str, links: StayLinks, url: TablesUrl, *, is_shown: bool) -> Component:
    tick = html.Span(className="tick is-ticked" if is_shown else "tick", **aria(hidden="true"))
    checked = aria(checked="true" if is_shown else "false")
    return links.link([tick, text], url.search, className="column-tick", role="checkbox", **checked)


def sort_head(
    links: StayLinks, text: str, hint: str, search: str, is_descending: bool | None
) -> html.Th:
    """Build a heading that sorts a table.

    Args:
        links: Makes the links of the page.
        text: What stands above the column.
        hint: Its tooltip; may be empty.
        search: State of the page that a click leads to.
        is_descending: How the column sorts the table now; None if it does not.
    """
    arrow = {None: "", True: " \N{DOWNWARDS ARROW}", False: " \N{UPWARDS ARROW}"}[is_descending]
    order = {None: "none", True: "descending", False: "ascending"}[is_descending]
    link = links.link(f"{text}{arrow}", search, className="sort-link")
    return html.Th(link, scope="col", title=hint or None, **aria(sort=order))


def _is_usual(column: SheetColumn[R], lines: Sequence[R]) -> bool:
    """True if a column is shown where the reader chose none."""
    if column.is_hidden:
        return False
    return not column.is_optional or any(column.value(line) is not None for line in lines)


def _key(value: Any) -> tuple[int, Any]:
    return (1, value.casefold()) if isinstance(value, str) else (0, value)
