"""Marks of single rows that are kept: a row is looked at once, whatever comes after it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from poor_bench.results.row_marks import RowMarks
from poor_bench.results.settled import SettledBasis
from poor_bench.results.text_rows import ROW_BITS

SOURCES = {1: "first.7", 2: "second.9", 40: "third.1"}


def open_marks(folder: Path, sources: dict[int, str] = SOURCES, about: object = "x") -> RowMarks:
    basis = SettledBasis(folder=folder, identity="any", sources=sources)
    return RowMarks(basis, "requests", about)


def keep_marks(folder: Path, places: NDArray[np.int64], is_marked: NDArray[np.bool_]) -> None:
    marks = open_marks(folder)
    marks.note(places, is_marked)
    marks.keep()


def name_places(*rows: tuple[int, int]) -> NDArray[np.int64]:
    return np.array([(source << ROW_BITS) + row for source, row in rows], dtype=np.int64)


def look_up(marks: RowMarks, places: NDArray[np.int64]) -> list[tuple[bool, bool]]:
    return [*zip(*(found.tolist() for found in marks.look_up(places)), strict=True)]


def test_another_process_knows_the_rows_that_were_looked_at(tmp_path: Path) -> None:
    keep_marks(tmp_path, name_places((1, 3), (40, 0), (2, 70)), np.array([True, False, True]))
    asked = name_places((2, 70), (1, 3), (1, 4), (40, 0), (40, 900))
    expected = [(True, True), (True, True), (False, False), (True, False), (False, False)]
    assert look_up(open_marks(tmp_path), asked) == expected


def test_later_rows_leave_earlier_ones_known(tmp_path: Path) -> None:
    keep_marks(tmp_path, name_places((1, 90), (1, 3)), np.array([True, True]))
    keep_marks(tmp_path, name_places((1, 5)), np.array([False]))
    asked = name_places((1, 3), (1, 5), (1, 90))
    assert look_up(open_marks(tmp_path), asked) == [(True, True), (True, False), (True, True)]


def test_sources_are_known_by_name_and_not_by_number(tmp_path: Path) -> None:
    keep_marks(tmp_path, name_places((1, 0), (2, 0)), np.array([True, True]))
    moved = open_marks(tmp_path, {1: "second.9", 2: "another.3"})
    assert look_up(moved, name_places((1, 0), (2, 0))) == [(True, True), (False, False)]


def test_other_facts_make_all_rows_new(tmp_path: Path) -> None:
    keep_marks(tmp_path, name_places((1, 0)), np.array([True]))
    assert look_up(open_marks(tmp_path, about="y"), name_places((1, 0))) == [(False, False)]


def test_nothing_is_kept_without_names_of_the_sources(tmp_path: Path) -> None:
    marks = RowMarks(None, "requests", "x")
    marks.note(name_places((1, 0)), np.array([True]))
    marks.keep()
    assert look_up(marks, name_places((1, 0))) == [(False, False)]
    assert not [*tmp_path.iterdir()]


@given(
    rows=st.dictionaries(
        st.tuples(st.sampled_from([*SOURCES]), st.integers(0, 40)), st.booleans(), max_size=30
    ),
    asked=st.lists(st.tuples(st.sampled_from([*SOURCES]), st.integers(0, 40)), max_size=30),
)
def test_exactly_the_noted_rows_are_known(
    rows: dict[tuple[int, int], bool], asked: list[tuple[int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        marks = open_marks(Path(name))
        marks.note(name_places(*rows), np.array([*rows.values()], dtype=np.bool_))
        expected = [(row in rows, rows.get(row, False)) for row in asked]
        assert look_up(marks, name_places(*asked)) == expected
