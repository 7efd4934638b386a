"""Tables as files: the same cells in each format, harmless in each."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.table_files import (
    TableFile,
    download_csv,
    download_parquet,
    table_file,
)

CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)
)


def rows_of(file: TableFile, folder: Path) -> tuple[list[str], list[tuple[object, ...]]]:
    path = folder / "file.parquet"
    path.write_bytes(file.parquet)
    with duckdb.connect() as connection:
        found = connection.read_parquet(str(path))
        return list(found.columns), found.fetchall()


def test_a_parquet_file_has_types_headings_and_gaps(tmp_path: Path) -> None:
    rows = [
        {"id": "=1+1", "score": 0.5, "n": 3, "is_new": True},
        {"id": None, "score": 1, "n": None, "is_new": False},
    ]
    columns = [("id", 'The "id"'), ("score", "Score"), ("n", "Tests"), ("is_new", "New")]
    heads, found = rows_of(table_file("some", rows, columns), tmp_path)
    assert heads == ['The "id"', "Score", "Tests", "New"]
    assert found == [("=1+1", 0.5, 3, True), (None, 1.0, None, False)]


def test_figures_have_no_digits_of_binary_fractions(tmp_path: Path) -> None:
    rows = [{"score": 4.199999999999999}, {"score": 0.1 + 0.2}, {"score": 1234567890.5}]
    file = table_file("scores", rows)
    assert file.csv.split() == ["score", "4.2", "0.3", "1234567890.0"]
    assert rows_of(file, tmp_path)[1] == [(4.2,), (0.3,), (1234567890.0,)]


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        (float("nan"), None),
        (2**70, str(2**70)),
        ("\ud800 lone", "? lone"),
        ("a\x00b\r\n'\"", "a\x00b\r\n'\""),
        ("x" * 3_000_000, "x" * 3_000_000),
    ],
)
def test_odd_cells_survive_in_parquet(cell: object, kept: object, tmp_path: Path) -> None:
    _, found = rows_of(table_file("odd", [{"cell": cell}, {"cell": "text"}]), tmp_path)
    assert found == [(kept,), ("text",)]


def test_a_table_without_rows_keeps_its_headings(tmp_path: Path) -> None:
    file = table_file("none", [], [("id", "Id")])
    assert rows_of(file, tmp_path) == (["Id"], [])
    assert file.csv == "Id\r\n"


@given(st.lists(st.fixed_dictionaries({"a": CELLS, "b": CELLS}), max_size=5))
def test_both_formats_have_the_same_rows(rows: list[dict[str, object]]) -> None:
    file = table_file("some", rows, ["a", "b"])
    csv_lines = list(csv.DictReader(io.StringIO(file.csv, newline="")))
    assert len(csv_lines) == len(rows)
    assert file.parquet.startswith(b"PAR1")


def test_files_are_named_by_their_format() -> None:
    file = table_file("models", [{"cell": "=1+1"}])
    assert download_csv(file)["filename"] == "models.csv"
    assert "'=1+1" in download_csv(file)["content"]
    download = download_parquet(file)
    assert download["filename"] == "models.parquet"
    assert base64.b64decode(download["content"]).startswith(b"PAR1")
