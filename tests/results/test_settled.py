"""Rows of the file of settled rows, arranged with later ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from poor_bench.results import settled
from poor_bench.results.columns import is_repeated
from poor_bench.results.settled import (
    ArrangedColumns,
    SettledRows,
    mark_rows,
    read_settled,
    write_settled,
)

Columns = dict[str, NDArray[np.int64]]


def build_columns(ranks: list[int], start: int) -> Columns:
    numbers = np.arange(start, start + len(ranks))
    return {
        "rank": np.array(ranks, np.int64),
        "place": numbers,
        "same": np.full(len(ranks), 7),
        "often_same": np.where(numbers == 103, 8, 7),
    }


def store(folder: Path, ranks: list[int]) -> SettledRows:
    assert write_settled(folder, SettledRows(columns=build_columns(ranks, 0)))
    rows = read_settled(folder)
    assert rows is not None
    return rows


@pytest.mark.slow(reason="a file for every example")
@settings(max_examples=60, deadline=None)
@given(
    of_file=st.sets(st.integers(0, 30), min_size=1),
    moved=st.sets(st.integers(0, 30)),
    new=st.sets(st.integers(0, 40), min_size=1),
    n_room=st.sampled_from([1, 100]),
)
def test_rows_stand_by_rank_and_the_rows_of_the_file_stay_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    of_file: set[int],
    moved: set[int],
    new: set[int],
    n_room: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settled, "FEWEST_NEW_ROWS", n_room)
        rows = store(tmp_path_factory.mktemp("index"), sorted(of_file))
    is_moved = np.isin(rows.columns["rank"], [*moved, *new])
    later = build_columns([*new], 100)
    arranged = ArrangedColumns(rows, is_moved, later["rank"], later.__getitem__)
    found = {name: column.copy() for name, column in arranged.items()}
    both = {name: np.append(rows.columns[name][~is_moved], later[name]) for name in arranged}
    order = both["rank"].argsort()
    for name, column in found.items():
        assert column.tolist() == both[name][order].tolist()
    assert rows.columns["place"].tolist() == [*range(len(of_file))]


def test_repeated_and_later_rows_take_no_copy_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = store(tmp_path, [*range(0, 2000, 2)])
    content = (tmp_path / "settled.bin").read_bytes()
    later = build_columns([500, 5000], 100)
    is_moved = rows.columns["rank"] == 500
    monkeypatch.setattr(np, "empty", lambda *_args: pytest.fail("copied"))
    arranged = ArrangedColumns(rows, is_moved, later["rank"], later.__getitem__)
    places = arranged["place"]
    assert (places[250], places[-1], len(places)) == (100, 101, 1001)
    assert is_repeated(arranged["same"])
    assert rows.columns["place"][250] == 250
    assert (tmp_path / "settled.bin").read_bytes() == content
    with pytest.raises(ValueError, match="read-only"):
        places[0] = 1


def test_a_file_that_another_one_replaced_is_still_read(tmp_path: Path) -> None:
    rows = store(tmp_path, [2, 4, 6])
    store(tmp_path, [1, 2, 3, 4])
    later = build_columns([8], 100)
    arranged = ArrangedColumns(rows, np.zeros(3, np.bool_), later["rank"], later.__getitem__)
    assert arranged["rank"].tolist() == [2, 4, 6, 8]


def test_only_rows_of_both_a_model_and_a_test_are_marked() -> None:
    columns = {"llm_id": np.array([0, 0, 1, 1], np.int32), "test_id": np.array([0, 4, 0, 4])}
    assert mark_rows(columns, np.array([4, 5]), 5).tolist() == [False, True, True, False]
    nothing = np.zeros(0, np.int64)
    assert mark_rows({"llm_id": nothing, "test_id": nothing}, np.array([9]), 5).tolist() == []
