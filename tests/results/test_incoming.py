from __future__ import annotations

import itertools
import os
import random
import signal
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest

from poor_bench.errors import StoreError
from poor_bench.models.result import result_to_record
from poor_bench.results.incoming import Incoming, find_run_files
from poor_bench.results.store import LIMIT_VARIABLE, ResultStore
from tests import forked
from tests.results.builders import make_result, open_test_store, scores
from tests.results.histories import (
    OTHER,
    find_fault,
    merge_and_die_at,
    merge_files,
    read_folder,
    write_history,
)

FEW, *REST = (range(30), *(range(start, start + 194) for start in range(30, 1_000, 194)))


def _count_by_hand(lines: dict[str, set[bytes]]) -> dict[tuple[object, ...], object]:
    """Find the score and the unsettled failure of each trial: later runs and lines count."""
    found: dict[tuple[object, ...], object] = {}
    for run_id in sorted(lines):
        records = [(orjson.loads(line), line) for line in lines[run_id]]
        for record, _ in sorted(
            records, key=lambda each: (each[0]["timestamp"], "failure" not in each[0], each[1])
        ):
            if record.get("request_fingerprint") == OTHER:
                continue
            trial = record["llm_id"], record["test_id"], record.get("trial", 1)
            if "failure" not in record:
                found.pop((*trial, "failed"), None)
            found[*trial, "failed" if "failure" in record else "scored"] = record["response"]
    return found


def _read(folder: Path) -> dict[tuple[object, ...], object]:
    return {
        (*result.key, "failed" if result.failure else "scored"): result.response
        for result in open_test_store(folder).results()
    }


def _split(files: list[Path], rng: random.Random) -> Iterable[list[Path]]:
    """Shuffle files, repeat some, and hand them out in several merges."""
    shuffled = files + rng.sample(files, rng.randint(0, len(files)))
    rng.shuffle(shuffled)
    while shuffled:
        n_first = rng.randint(1, len(shuffled))
        yield shuffled[:n_first]
        shuffled = shuffled[n_first:]


def _add_own_run(folder: Path, rng: random.Random) -> dict[str, set[bytes]]:
    """Let a store have a run of its own, in the middle of the others' times."""
    run_id = "20350101T000000-own"
    own = [make_result("t1", "a:x", timestamp="2035", response=f"own {rng.random()}")]
    open_test_store(folder).add(own, run_id, {})
    return {run_id: {orjson.dumps(result_to_record(result)) for result in own}}


@pytest.mark.parametrize(
    "seeds",
    [FEW, *(pytest.param(part, marks=pytest.mark.slow(reason="194 histories")) for part in REST)],
    ids=str,
)
def test_1000_random_histories_come_to_the_same_bytes_in_any_order(
    seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _fd: None)
    for seed in seeds:
        rng, folder = random.Random(seed), tmp_path / str(seed)
        history = write_history(folder / "from", rng)
        if not history.files:
            continue
        lines = dict(history.lines)
        if has_own := rng.random() < 0.3:
            own = random.Random(seed)
            lines |= _add_own_run(folder / "at_once", random.Random(seed))
            _add_own_run(folder / "in_parts", own)
        merge_files(open_test_store(folder / "at_once"), history.files)
        for files in _split(history.files, rng):
            merge_files(open_test_store(folder / "in_parts"), files)
        assert read_folder(folder / "in_parts") == read_folder(folder / "at_once"), (seed, has_own)
        assert _read(folder / "at_once") == _count_by_hand(lines), seed


def _write_run(folder: Path, run_id: str, *test_ids: str, **fields: object) -> Path:
    """Write the run of another machine, which was not closed; return its file."""
    store = open_test_store(folder)
    journal = store.open_run(run_id, {})
    for test_id in test_ids:
        journal.append(make_result(test_id, **fields))
    journal.close()
    return store.paths.journal_dir / f"{run_id}.jsonl"


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    path = _write_run(tmp_path / "from", "20260101T0000-a", "t1", "t2")
    store = open_test_store(tmp_path / "to")
    merge_files(store, [path])
    before = read_folder(tmp_path / "to")
    [again] = Incoming(store, find_run_files([path]).files, find_fault).take()
    assert (again.n_taken, again.n_known) == (0, 2)
    assert read_folder(tmp_path / "to") == before


def test_preview_changes_nothing_and_tells_what_would_be_taken(tmp_path: Path) -> None:
    path = _write_run(tmp_path / "from", "20260101T0000-a", "t1", "t2")
    _write_run(tmp_path / "from", "20260102T0000-a", "t3", request_fingerprint=OTHER)
    with path.open("ab") as stream:
        stream.write(b'{"llm_id":"torn')
    files = find_run_files([tmp_path / "from"]).files
    first, second = Incoming(open_test_store(tmp_path / "to"), files, find_fault).preview()
    assert (first.n_taken, first.n_damaged, second.n_taken) == (2, 0, 0)
    assert (first.cut, second.cut) == ([path], [])
    assert second.skipped == {OTHER: 1}
    assert not read_folder(tmp_path / "to")


def test_run_that_has_nothing_to_take_is_not_stored(tmp_path: Path) -> None:
    path = _write_run(tmp_path / "from", "20260102T0000-a", "t3", request_fingerprint=OTHER)
    store = open_test_store(tmp_path / "to")
    merge_files(store, [path])
    assert not store.paths.runs()


def test_many_results_come_to_the_same_export_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "3")
    files = [
        _write_run(tmp_path / "from", f"2026010{n}T0000-a", "t1", f"t{n + 1}", response=str(n))
        for n in range(1, 5)
    ]
    exported = set()
    for name, order in (("a", files), ("b", files[::-1]), ("c", files[2:] + files[:2])):
        store = open_test_store(tmp_path / name)
        for path in order:
            merge_files(store, [path])
        assert store.paths.list_sealed()
        store.export()
        exported.add(store.paths.snapshot.read_bytes())
    assert len(exported) == 1
    assert {r.response for r in store.results() if r.test_id == "t1"} == {"4"}


def test_open_table_follows_an_older_run_that_comes_later(tmp_path: Path) -> None:
    store = open_test_store(tmp_path / "to")
    store.add([make_result("t1", score=1.0)], "20260105T0000-a", {})
    assert store.table().count_values("test_id") == {"t1": 1}
    old = _write_run(tmp_path / "from", "20260101T0000-a", "t1", "t2", score=0.0)
    merge_files(store, [old])
    table = store.table()
    found = {table.value("test_id", row): table.columns["score"][row] for row in range(2)}
    assert found == {"t1": 1.0, "t2": 0.0}


def test_runs_that_came_in_are_found_with_their_headers(tmp_path: Path) -> None:
    store = open_test_store(tmp_path / "from")
    journal = store.open_run("20260101T0000-a", {"machine": {"cpu": "fast"}})
    journal.append(make_result())
    journal.close()
    to = open_test_store(tmp_path / "to")
    merge_files(to, [tmp_path / "from"])
    [run] = to.paths.history.runs()
    assert run.header["machine"] == {"cpu": "fast"}


@pytest.mark.parametrize("place", ["journal", "runs"])
def test_left_over_runs_of_the_store_itself_are_closed_in_their_place(
    tmp_path: Path, place: str
) -> None:
    """Shards that shared the folder, started by a clock that is behind."""
    store = open_test_store(tmp_path)
    store.add([make_result("t1", score=1.0)], "20260105T0000-a", {})
    _write_run(tmp_path, "20260101T0000-b", "t1", "t2", score=0.0)
    merge_files(store, [tmp_path / place] if place == "journal" else [tmp_path])
    assert scores(store) == {
        ("scripted:a", "t1", 1): 1.0,
        ("scripted:a", "t2", 1): 0.0,
    }
    assert not store.paths.journals()


def test_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_test_store(tmp_path / "to")
    store.add([make_result("t1")], "20260105T0000-a", {})
    before = read_folder(tmp_path / "to")
    paths = [_write_run(tmp_path / "from", f"2026010{n}T0000-a", f"t{n}") for n in (1, 2)]
    n_left = [1]

    def no_space(_fd: int) -> None:
        n_left[0] -= 1
        if n_left[0] < 0:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match="No space left") as caught:
        merge_files(store, paths)
    assert "Nothing was merged" in caught.value.hint
    assert read_folder(tmp_path / "to") == before
    assert not list((tmp_path / "to" / "journal").glob(".*"))
    monkeypatch.undo()
    merge_files(store, paths)
    assert len(scores(store)) == 2


@pytest.mark.slow(reason="starts a process for every step that may be the last")
def test_kill_9_at_any_step_loses_nothing(tmp_path: Path) -> None:
    source = tmp_path / "from"
    for number in (1, 3):
        _write_run(source, f"2026010{number}T0000-a", "t1", f"t{number}", response=str(number))
    whole = _make_store_with_runs(tmp_path / "whole")
    merge_files(whole, [source])
    for step in itertools.count():
        store = _make_store_with_runs(tmp_path / str(step))
        before = _read(tmp_path / str(step))
        code = forked.run(merge_and_die_at, step, tmp_path / str(step), source)
        assert code in {0, -signal.SIGKILL}
        seen = _read(tmp_path / str(step))
        assert before.keys() <= seen.keys()
        expected = _read(tmp_path / "whole")
        assert all(seen[key] in (before.get(key), expected[key]) for key in seen), step
        merge_files(store, [source])
        assert read_folder(tmp_path / str(step)) == read_folder(tmp_path / "whole"), step
        if code == 0:
            break
    assert step > 5


def _make_store_with_runs(folder: Path) -> ResultStore:
    store = open_test_store(folder)
    for number in (2, 4):
        store.add([make_result("t1", response=str(number))], f"2026010{number}T0000-a", {})
    return store
