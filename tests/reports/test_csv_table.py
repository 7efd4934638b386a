from __future__ import annotations

import csv
import io

import pytest

from poor_bench.reports.csv_table import write_cell, write_csv, write_plain_cell

FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\x00=1",
    "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", "\ufeff=1", "'=1", "''=1", "' =1",
)  # fmt: skip
TEXTS = ("", "'tis", "a=b", "1 - 2", "5", 'say "hi",\nyou', "a;=1\t+2", "'", " ", "x\r\ny", "\x00")


def test_no_cell_starts_a_formula() -> None:
    rows = [{"a": "=1+1", "b": -2}, {"a": "@x", "b": None}, {"a": 'say "hi",\nyou', "b": 0.5}]
    lines = write_csv([("a", "=A"), ("b", "B")], rows).split("\r\n")
    assert lines[:3] == ["'=A,B", "'=1+1,-2", "'@x,"]
    assert lines[3] == '"say ""hi"",\nyou",0.5'


def test_missing_fields_stay_empty() -> None:
    assert write_csv([("a", "A"), ("b", "B")], [{"a": 1}]) == "A,B\r\n1,\r\n"


@pytest.mark.parametrize("text", FORMULAS)
def test_hidden_and_full_width_formulas_get_an_apostrophe(text: str) -> None:
    assert write_plain_cell(text) == f"'{text}"


def test_values_that_are_not_texts_are_looked_at_as_they_are_written() -> None:
    class Named:
        def __str__(self) -> str:
            return "=cmd()"

    assert write_plain_cell(Named()) == "'=cmd()"


def test_every_text_comes_back_as_it_was() -> None:
    texts = (*FORMULAS, *TEXTS)
    table = write_csv([("a", "A")], [{"a": text} for text in texts])
    rows = list(csv.reader(io.StringIO(table, newline="")))[1:]
    assert [write_cell(row[0] if row else "") for row in rows] == list(texts)
