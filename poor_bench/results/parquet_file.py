"""Tables as Parquet files, for notebooks and data frames: typed columns, texts as they are."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
        return value if math.isfinite(value) else None
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
