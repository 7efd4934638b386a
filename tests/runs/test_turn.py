from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import StoreError
from poor_bench.results.paths import paths_in
from poor_bench.results.store import open_store
from poor_bench.runs.turn import RunTurn


def test_one_has_the_turn_until_it_is_given_back(tmp_path: Path) -> None:
    first, second = RunTurn(paths_in(tmp_path).journal_dir), RunTurn(paths_in(tmp_path).journal_dir)
    assert first.take()
    assert not second.take()
    assert second.other_run() == "a run"
    first.give_back()
    assert second.take()
    second.give_back()


def test_a_run_without_the_turn_is_in_the_way_as_well(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    journal = store.open_run("20260101T000000-a", {})
    turn = RunTurn(store.paths.journal_dir)
    assert not turn.take()
    assert turn.other_run() == "the run 20260101T000000-a"
    journal.close()
    assert turn.take()
    turn.give_back()


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(StoreError, match="journal"):
        RunTurn(paths_in(tmp_path).journal_dir).take()
