from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.importers.rows import read_rows

TWO = [(1, {"a": 1, "b": "x"}), (2, {"a": 2, "b": "y"})]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", '{"a": 1, "b": "x"}\n\n{"a": 2, "b": "y"}'),
        ("t.JSONL", '\ufeff{"a": 1, "b": "x"}\r\n{"a": 2, "b": "y"}\r\n'),
        ("t.json", '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]'),
    ],
)
def test_json_in_all_forms_gives_the_same_rows(tmp_path: Path, name: str, content: str) -> None:
    assert read_rows(write(tmp_path, name, content)) == TWO
    compressed = gzip.compress(content.encode())
    assert read_rows(write(tmp_path, f"{name}.gz", compressed)) == TWO


def test_csv_cells_may_hold_commas_quotes_and_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'a,b\n"x, ""y""","1\n2"\n')
    assert read_rows(path) == [(1, {"a": 'x, "y"', "b": "1\n2"})]


def test_tsv_is_split_at_tabs(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "t.tsv", "a\tb\n1,5\t2\n")) == [(1, {"a": "1,5", "b": "2"})]


def test_choices_without_a_header_get_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "Which?,w,x,y,z,B\nWhat?,1,2,3,4,D\n")
    assert read_rows(path)[1] == (
        2,
        {"question": "What?", "A": "1", "B": "2", "C": "3", "D": "4", "answer": "D"},
    )


def test_an_empty_csv_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "t.csv", "")) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", '{"a": 1}\n{"a": ', r"t\.jsonl:2: this is not JSON"),
        ("t.jsonl", "[1]", r"t\.jsonl:1: a mapping"),
        ("t.json", '{"a": 1}', "a list of rows"),
        ("t.json", "[\n\n5,]", r"t\.json:3: this is not JSON"),
        ("t.json", "[" * 100_000, "not usable JSON"),
        ("t.csv", "a,b\n1\n", "row 1 has 1 cell, expected 2"),
        ("t.csv", 'a,b\n"1,2\n', "this is not CSV"),
        ("t.json", b"\xff\xfe", "not UTF-8"),
        ("t.json.gz", b"no gzip", "cannot be read"),
        ("t.txt", "a", "unknown kind of file"),
        ("t.gz", gzip.compress(b"a", mtime=0), "unknown kind of file"),
    ],
)
def test_files_of_another_form_are_refused(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_rows(write(tmp_path, name, content))


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_rows(tmp_path / "nothing.json")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two columns are called `a`"):
        read_rows(write(tmp_path, "t.csv", "a,b,a\n1,2,3\n"))
