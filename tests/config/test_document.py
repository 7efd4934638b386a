from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.config.document import UnreadableError, open_document, read_text
from poor_bench.config.json_document import parse_json


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[]")
    assert read_text(path) == "[]"


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"", "empty", None),
        (b" \n\t", "empty", None),
        ("{\n 'ü'".encode("latin-1"), "not UTF-8", 2),
        ("[]".encode("utf-16"), "not UTF-8", 1),
    ],
)
def test_content_that_is_no_text_is_refused(
    tmp_path: Path, content: bytes, message: str, line: int | None
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=message) as caught:
        read_text(path)
    assert caught.value.line == line


def test_a_missing_file_says_how_to_get_an_example(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="does not exist") as caught:
        read_text(tmp_path / "tests.json")
    assert "init" in caught.value.hint


def test_a_directory_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="directory"):
        read_text(tmp_path)


def test_a_link_that_leads_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_text(tmp_path / "a")


def test_the_report_of_an_unreadable_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1,\n2", encoding="utf-8")
    document, report = open_document(path, parse_json)
    (problem,) = report.problems
    assert document is None
    assert (problem.file, problem.line) == (str(path), 2)
