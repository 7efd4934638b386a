"""Tables of pages as files: CSV for spreadsheets, Parquet for notebooks."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Output, no_update

from poor_bench.dashboard.components.controls import parquet_id
from poor_bench.dashboard.page import on_click
from poor_bench.reports.csv_table import csv_text

if TYPE_CHECKING:
    from dash import Dash, State

    from poor_bench.dashboard.services.services import Services


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table to download.

    Attributes:
        name: File name that the browser proposes, without its suffix.
        columns: Field and heading of each column.
        rows: Values by field.
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Mapping[str, Any]]

    @property
    def csv(self) -> str:
        """The table as CSV that no spreadsheet takes for a program."""
        return csv_text(self.columns, self.rows)

    @property
    def parquet(self) -> bytes:
        """The table as a Parquet file."""
        from poor_bench.results.parquet_file import write_parquet

        return write_parquet(self.columns, self.rows)


def table_file(
    name: str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str | tuple[str, str]] = ()
) -> TableFile:
    """Make a file of rows.

    Args:
        name: File name that the browser proposes, without its suffix.
        rows: One mapping for each row.
        columns: Keys, or keys with their headings; all keys of the first row by default.
    """
    kept = list(rows)
    named = columns or (list(kept[0]) if kept else [])
    return TableFile(name, [(key, key) if isinstance(key, str) else key for key in named], kept)


def download_csv(file: TableFile) -> dict[str, Any]:
    """Write a table as CSV for `dcc.Download`."""
    return {
        "filename": f"{file.name}.csv", "content": file.csv, "base64": False, "type": "text/csv",
    }  # fmt: skip


def download_parquet(file: TableFile) -> dict[str, Any]:
    """Write a table as Parquet for `dcc.Download`."""
    return {
        "filename": f"{file.name}.parquet",
        "content": base64.b64encode(file.parquet).decode(),
        "base64": True,
        "type": "application/vnd.apache.parquet",
    }


def bind_files(
    app: Dash,
    services: Services,
    download_id: str,
    files: Mapping[Any, Callable[..., TableFile | None]],
    *states: State,
) -> None:
    """Let the buttons of `file_buttons` download tables.

    Args:
        app: The application.
        services: Passed on to the functions.
        download_id: The `dcc.Download` that saves the files.
        files: Id of the CSV button to the function that builds its table; None where
            there is nothing to save.
        states: Passed on to the functions, too.
    """
    for button_id, build in files.items():
        for each, write in ((button_id, download_csv), (parquet_id(button_id), download_parquet)):
            output = Output(download_id, "data", allow_duplicate=True)
            on_click(app, each, output, *states)(partial(_write, write, build, services))


def _write(
    write: Callable[[TableFile], dict[str, Any]],
    build: Callable[..., TableFile | None],
    services: Services,
    *states: Any,
) -> Any:
    file = build(services, *states)
    return no_update if file is None else write(file)
