from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.cli.run import take_turn
from poor_bench.results.paths import paths_in
from poor_bench.results.store import open_store
from poor_bench.runs.turn import RunTurn


def test_the_end_of_another_run_is_waited_for_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(tmp_path)
    journal = store.open_run("20260101T000000-a", {})
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            journal.close()

    assert take_turn(RunTurn(store.paths.history), beside=False, pause=pause)
    assert len(pauses) == 3
    told = capsys.readouterr().err
    assert "Waiting: the run 20260101T000000-a of another process" in told
    assert "Ctrl-C stops waiting" in told
    assert "--beside" in told


def test_nobody_waits_alone_or_beside(tmp_path: Path) -> None:
    def never(_seconds: float) -> None:
        pytest.fail("waited")

    paths = paths_in(tmp_path)
    first = RunTurn(paths.history)
    assert not take_turn(first, beside=False, pause=never)
    assert not take_turn(RunTurn(paths.history), beside=True, pause=never)
    first.give_back()
    assert not take_turn(RunTurn(paths.history), beside=False, pause=never)
