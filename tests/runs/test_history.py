from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from poor_bench.errors import ConfigError, RunRefusedError, StoreError
from poor_bench.runs.history import RunFollower, RunHistory, RunKind

KIND = RunKind(
    name="measurement",
    folders=("measured",),
    command="measure",
    row_keys=frozenset({"row"}),
    count_planned=lambda header: header.get("n"),
    describe=lambda header: str(header.get("what", "")),
)
FOLDERS = RunKind(**{name: getattr(KIND, name) for name in KIND.__slots__} | {"file": "run.jsonl"})


def write(history: RunHistory, run_id: str, **header: object) -> None:
    with history.writing(run_id, {"run_id": run_id, **header}) as journal:
        journal.append_record({"row": 1})


@pytest.mark.parametrize("kind", [KIND, FOLDERS])
def test_runs_are_listed_found_and_deleted(tmp_path: Path, kind: RunKind) -> None:
    history = RunHistory(tmp_path, kind)
    for run_id in ("20261122T01-aa", "20261122T02-bb", "20261122T02-cc"):
        write(history, run_id)
    assert [run.run_id[-2:] for run in history.runs()] == ["aa", "bb", "cc"]
    found = [history.find(name).run_id[-2:] for name in ("last", "previous", "20261122T01")]
    assert found == ["cc", "bb", "aa"]
    history.delete(history.find("last"))
    assert [run.run_id[-2:] for run in history.runs()] == ["aa", "bb"]


def test_what_names_no_run_or_several_is_told_with_the_newest(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    with pytest.raises(ConfigError, match="is not a measurement") as none:
        history.find("last")
    assert "measure" in none.value.hint
    write(history, "20261122T02-bb", what="heat")
    with pytest.raises(ConfigError, match="no previous measurement"):
        history.find("previous")
    with pytest.raises(ConfigError, match="'2025' is not a measurement") as unknown:
        history.find("2025")
    assert unknown.value.hint == "newest: 20261122T02-bb (heat)"
    with pytest.raises(ConfigError, match="is not a measurement"):
        history.find("202")
    write(history, "20261122T02-cc")
    with pytest.raises(ConfigError, match="matches several runs"):
        history.find("20261122")


def test_a_running_run_is_known_and_protected(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    assert history.running() is None
    with history.writing("20261122T02-bb", {"what": "heat"}):
        run = history.running()
        assert run is not None
        with pytest.raises(RunRefusedError, match="is running"):
            history.delete(run)
        with pytest.raises(StoreError), history.writing("20261122T02-bb", None):
            pass
    assert history.running() is None


def test_following_a_run_counts_whole_lines_once_and_holds_one_at_a_time(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    with history.writing("20261122T02-bb", {"n": 99}) as journal:
        for _ in range(50):
            journal.append_record({"row": 1, "text": "x" * 50_000})
    path = history.path("20261122T02-bb")
    follower = RunFollower(KIND, history.find("last"))
    tracemalloc.start()
    try:
        assert follower.progress().n_done == 50
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size
    line = path.read_bytes().splitlines(keepends=True)[-1]
    for part in (line[:500], line[500:]):
        with path.open("ab") as stream:
            stream.write(part)
        n_done = follower.progress().n_done
    assert n_done == 51


def test_a_resumed_journal_loses_only_the_torn_line(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    write(history, "20261122T02-bb")
    path = history.path("20261122T02-bb")
    path.write_bytes(path.read_bytes() + b'{"row": 2, "te')
    with history.writing("20261122T02-bb", None) as journal:
        journal.append_record({"row": 3})
    assert [record["row"] for record in history.find("last").records()] == [1, 3]


def test_fingerprint_changes_with_every_line(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    seen = {history.fingerprint()}
    with history.writing("20261122T02-bb", {}) as journal:
        seen.add(history.fingerprint())
        journal.append_record({"row": 1})
        seen.add(history.fingerprint())
    assert len(seen) == 3


def test_a_run_whose_header_tells_no_start_began_when_its_id_says(tmp_path: Path) -> None:
    history = RunHistory(tmp_path, KIND)
    write(history, "20261122T010203-aa")
    write(history, "20261122T010204-bb", started="2026-11-22T01:02:04.500+00:00")
    write(history, "imported")
    assert {run.run_id[-2:]: run.started for run in history.runs()} == {
        "aa": "2026-11-22T01:02:03+00:00",
        "bb": "2026-11-22T01:02:04.500+00:00",
        "ed": "",
    }
