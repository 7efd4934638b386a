from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.page_events import make_safe_file_name


@given(st.text(), st.frozensets(st.text()))
def test_a_name_stays_in_its_folder_and_is_new(suggested: str, taken: frozenset[str]) -> None:
    name = make_safe_file_name(suggested, taken)
    assert Path("folder", name).parent == Path("folder")
    assert name not in {"", ".", ".."} | taken
    assert name.isascii()
    assert len(name) < 100
    assert not name.startswith((".", "-"))


@given(st.text())
def test_the_same_suggestion_twice_gives_two_names(suggested: str) -> None:
    first = make_safe_file_name(suggested)
    assert make_safe_file_name(suggested, {first}) != first


def test_paths_and_reserved_names_are_taken_apart() -> None:
    assert make_safe_file_name("..\\..\\evil.exe") == "evil.exe"
    assert make_safe_file_name("/etc/passwd") == "passwd"
    assert make_safe_file_name("CON.txt") == "file_CON.txt"
    assert make_safe_file_name("") == "file"
