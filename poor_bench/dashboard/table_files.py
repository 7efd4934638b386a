"""Tables of pages as files: CSV for spreadsheets, Parquet for notebooks."""

from __future__ import annotations

import base64
import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from dash import Dash, Output, State, no_update

from poor_bench.dashboard.components.controls import parquet_id
from poor_bench.dashboard.page import on_click
from poor_bench.dashboard.services.services import Services
from poor_bench.reports.csv_table import round_figure, write_csv


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
        return write_csv(self.columns, self.rows)

    @property
    def parquet(self) -> bytes:
        """The table as a Parquet file."""
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


_FORMS = {"CSV": download_csv, "Parquet": download_parquet}


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
        for each, (form, write) in zip(
            (button_id, parquet_id(button_id)), _FORMS.items(), strict=True
        ):
            output = Output(download_id, "data", allow_duplicate=True)
            # The table may wait for what is computed.
            running = [(Output(each, "children"), "computing ...", form)]
            handle = partial(_write, write, build, services)
            on_click(app, each, output, *states, running=running)(handle)


def _write(
    write: Callable[[TableFile], dict[str, Any]],
    build: Callable[..., TableFile | None],
    services: Services,
    *states: Any,
) -> Any:
    file = build(services, *states)
    return no_update if file is None else write(file)


_LARGEST = 2**63 - 1


def write_parquet(columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Write rows as a Parquet file.

    Args:
        columns: Field and heading of each column; no two headings are equal.
        rows: Values by field; a missing one or None is null.
    """
    import duckdb

    table = [[_value(row.get(field)) for field, _ in columns] for row in rows]
    types = [_type(row[place] for row in table) for place in range(len(columns))]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        longest = _write_lines(source, table, types)
        with duckdb.connect() as connection:
            read = connection.read_json(
                str(source),
                columns={f"c{place}": kind for place, kind in enumerate(types)},
                format="newline_delimited",
                maximum_object_size=longest + (1 << 20),
            )
            shown = [
                duckdb.ColumnExpression(f"c{place}").alias(heading)
                for place, (_, heading) in enumerate(columns)
            ]
            read.select(*shown).write_parquet(str(target), compression="zstd")
        return target.read_bytes()


def _value(value: object) -> object:
    if isinstance(value, float):
        return round_figure(value) if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return str(value).encode("utf-8", "replace").decode()


def _type(values: Iterable[object]) -> str:
    """Name the narrowest type that holds all values; a column without any is text."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return "BOOLEAN"
    if known and all(type(value) is int and abs(value) <= _LARGEST for value in known):
        return "BIGINT"
    if known and all(type(value) in {int, float} for value in known):
        return "DOUBLE"
    return "VARCHAR"


def _write_lines(path: Path, table: Iterable[Sequence[object]], types: Sequence[str]) -> int:
    """Write a JSON object for each row; return the length of the longest line."""
    longest = 0
    with path.open("wb") as stream:
        for row in table:
            cells = {
                f"c{place}": _fit(value, kind)
                for place, (value, kind) in enumerate(zip(row, types, strict=True))
            }
            longest = max(longest, stream.write(orjson.dumps(cells) + b"\n"))
    return longest


def _fit(value: Any, kind: str) -> object:
    if value is None:
        return None
    if kind == "DOUBLE":
        return float(value)
    return str(value) if kind == "VARCHAR" else value
