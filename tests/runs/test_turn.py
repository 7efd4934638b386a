from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import RunRefusedError, StoreError
from poor_bench.results.paths import paths_in
from poor_bench.results.store import open_store
from poor_bench.runs.history import RunHistory, RunKind
from poor_bench.runs.turn import RunTurn, run_alone
from tests.runs.test_history import FOLDERS, KIND


def test_one_has_the_turn_until_it_is_given_back(tmp_path: Path) -> None:
    first, second = RunTurn(paths_in(tmp_path).history), RunTurn(paths_in(tmp_path).history)
    assert first.take()
    assert not second.take()
    assert second.other_run() == "a run"
    first.give_back()
    assert second.take()
    second.give_back()


def test_a_run_without_the_turn_is_in_the_way_as_well(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    journal = store.open_run("20260101T000000-a", {})
    turn = RunTurn(store.paths.history)
    assert not turn.take()
    assert turn.other_run() == "the run 20260101T000000-a"
    journal.close()
    assert turn.take()
    turn.give_back()


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(StoreError, match="journal"):
        RunTurn(paths_in(tmp_path).history).take()


@pytest.mark.parametrize("kind", [KIND, FOLDERS])
def test_of_two_that_start_at_once_only_one_runs(tmp_path: Path, kind: RunKind) -> None:
    """Neither has written its journal yet when the other one looks."""
    one, other = RunHistory(tmp_path, kind), RunHistory(tmp_path, kind)
    with run_alone(one, {"what": "heat"}):
        with (
            pytest.raises(RunRefusedError, match="a measurement is already running"),
            run_alone(other, {"what": "heat"}),
        ):
            pytest.fail("both run")
        with run_alone(other, {"what": "light"}), run_alone(other, {"what": "heat"}, beside=True):
            pass
    with run_alone(other, {"what": "heat"}):
        pass


@pytest.mark.parametrize("kind", [KIND, FOLDERS])
def test_a_run_about_the_same_is_in_the_way_until_it_ends(tmp_path: Path, kind: RunKind) -> None:
    history = RunHistory(tmp_path, kind)
    with history.writing("20261122T02-bb", {"what": "heat"}):
        with (
            pytest.raises(RunRefusedError, match="20261122T02-bb is already running"),
            run_alone(history, {"what": "heat"}),
        ):
            pytest.fail("both run")
        with run_alone(history, {"what": "light"}):
            pass
    with run_alone(history, {"what": "heat"}):
        pass
    assert [run.run_id for run in history.runs()] == ["20261122T02-bb"]
