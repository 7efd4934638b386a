"""Mistakes stand where an editor shows them, whatever wrote the file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from poor_bench.config.document import Report, open_document
from poor_bench.config.json_document import parse_json
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError, StoreError
from poor_bench.importers.rows import read_rows
from poor_bench.results.results_file import read_results_file

BOM = b"\xef\xbb\xbf"


def told(report: Report) -> str:
    return str(report.problems[0])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", BOM])
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"tests": [\n  {"test_id": "a"},\n  {"test_', 3, 10),
        ('{"tests": [\n  {"test_id":\n', 2, 14),
        ('{"tests": [\n  {"test_id" "a"}\n]}', 2, 14),
        ('{"te', 1, 5),
    ],
)
def test_json_is_located_in_the_lines_of_its_file(
    tmp_path: Path, line_end: str, mark: bytes, text: str, line: int, column: int
) -> None:
    path = tmp_path / "tests.json"
    path.write_bytes(mark + text.replace("\n", line_end).encode())
    document, report = open_document(path, parse_json)
    assert document is None
    assert told(report).startswith(f"{path}:{line}: this is not JSON: ")
    assert f"at line {line}, column {column}" in told(report)


def test_half_a_file_is_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "tests.json"
    path.write_text('{"tests": [\n  {"test_id": "a"},\n')
    _, report = open_document(path, parse_json)
    assert "it ends too early" in told(report)
    assert "written only in part" in told(report)
    assert "comma" not in told(report)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", BOM])
def test_yaml_is_located_in_the_lines_of_its_file(
    tmp_path: Path, line_end: str, mark: bytes
) -> None:
    path = tmp_path / "test_classes.yaml"
    text = "# two\u2028# three\ntest_classes:\n  - id: a: b\n"
    path.write_bytes(mark + text.replace("\n", line_end).encode())
    _, report = open_document(path, parse_yaml)
    assert told(report).startswith(f"{path}:3: this is not YAML")
    assert "at line 3, column 10" in told(report)


def test_text_of_another_encoding_is_located(tmp_path: Path) -> None:
    path = tmp_path / "tests.json"
    path.write_bytes(BOM + '{"a":\r\n "ü"}'.encode("latin-1"))
    _, report = open_document(path, parse_json)
    assert told(report).startswith(f"{path}:2: this is not UTF-8 text: byte 0xfc at column 3")


@pytest.mark.parametrize("packed", [False, True])
def test_rows_to_import_are_located(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("rows.jsonl.gz" if packed else "rows.jsonl")
    content = BOM + b'{"question": "a"}\r\n\r\n{"question": "b", "ans'
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(ConfigError, match=r":3: .* ends too early, at line 3, column 23"):
        read_rows(path)


@pytest.mark.parametrize(
    "head",
    [
        b'{"version":"1.0",\n"results":{\n"scripted:a":[\n',
        b'{\n  "version": "1.0",\n  "results": {"scripted:a": [\n',
    ],
    ids=["ours", "of another tool"],
)
def test_damaged_results_are_located(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(head + b'{"test_id":"a","score":1.0,"det')
    with pytest.raises(StoreError, match="ends too early, at line 4, column 32") as caught:
        read_results_file(path)
    assert "--repair" not in caught.value.hint
