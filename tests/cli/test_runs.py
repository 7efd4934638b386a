from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.judge.storage import JudgementStore
from poor_bench.run_kinds import RUN_KINDS
from poor_bench.runs.history import RunHistory
from poor_bench.tuning.searches import SEARCHES
from tests.judge.agent_workspace import write_workspace
from tests.judge.run_builders import conversation_of, header_of, judgement_of


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "runs", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with one run of each kind."""
    folder = write_workspace(tmp_path)
    for hour, kind in enumerate(RUN_KINDS):
        run_id = f"20261122T0{hour}0000-aa"
        with RunHistory(folder, kind).writing(run_id, {"run_id": run_id, "suite": "shop"}):
            pass
    return folder


def test_runs_of_every_kind_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [row["kind"] for row in rows] == [kind.name for kind in RUN_KINDS]
    assert not any(row["is_running"] for row in rows)
    assert call(folder) == 0
    assert "shop" in capsys.readouterr().out
    assert call(folder, "--running") == 0
    assert "No run is running." in capsys.readouterr().out


def test_runs_of_every_kind_are_deleted(folder: Path) -> None:
    for hour in range(len(RUN_KINDS)):
        assert call(folder, "delete", f"20261122T0{hour}", "--yes") == 0
    assert not any(RunHistory(folder, kind).runs() for kind in RUN_KINDS)
    assert call(folder, "delete", "20261122T00", "--yes") == 2


def test_a_running_run_is_watched_and_not_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    header = header_of("20261122T010000-aa", judges=("j",), n_cases=1)
    with JudgementStore(folder).writing(header) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", "Hello"))
        assert call(folder, "--running", "--json") == 0
        [row] = json.loads(capsys.readouterr().out)["runs"]
        assert (row["n_done"], row["n_planned"]) == (1, 2)
        assert call(folder, "delete", "last", "--yes") == 2
        watching = threading.Thread(target=call, args=(folder, "watch", "20261122T01"))
        watching.start()
        writer.add_judgement(judgement_of(7))
    watching.join()
    assert "judged run 20261122T010000-aa is not running: 2 of 2 done" in (capsys.readouterr().out)


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("prompt", "prompt template of class sums", "prompt template of class sums"),
        ("params", "sums", "params sums"),
        ("", "", ""),
    ],
)
def test_a_search_is_named_by_what_it_tunes(kind: str, name: str, told: str) -> None:
    assert SEARCHES.describe({"kind": kind, "name": name}) == told
