from __future__ import annotations

from poor_bench.dashboard.text.csv_text import csv_text


def test_no_cell_starts_a_formula() -> None:
    rows = [{"a": "=1+1", "b": -2}, {"a": "@x", "b": None}, {"a": 'say "hi",\nyou', "b": 0.5}]
    lines = csv_text([("a", "=A"), ("b", "B")], rows).split("\r\n")
    assert lines[:3] == ["'=A,B", "'=1+1,-2", "'@x,"]
    assert lines[3] == '"say ""hi"",\nyou",0.5'


def test_missing_fields_stay_empty() -> None:
    assert csv_text([("a", "A"), ("b", "B")], [{"a": 1}]) == "A,B\r\n1,\r\n"
