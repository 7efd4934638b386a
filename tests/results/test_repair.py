from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from poor_bench.cli.main import main
from poor_bench.errors import StoreError
from poor_bench.results.repair import is_healthy, repair_snapshot
from poor_bench.results.store import ResultStore
from tests.conftest import WorkspaceFiles
from tests.results.builders import make_result, open_test_store, scores


def test_damaged_file_is_kept_beside_and_rebuilt(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("t1"), make_result("t2"), make_result("t3")], "run1", {})
    whole = store.paths.snapshot.read_bytes()
    damaged = whole.replace(b'"t2"', b'"t2', 1)
    store.paths.snapshot.write_bytes(damaged)
    with pytest.raises(StoreError, match="damaged"):
        list(store.results())
    repaired = repair_snapshot(store.paths)
    assert repaired.kept_as.read_bytes() == damaged
    assert (repaired.n_rows, repaired.n_unreadable, repaired.n_runs) == (2, 1, 1)
    assert {test_id for _, test_id, _ in scores(store)} == {"t1", "t2", "t3"}


def test_readable_row_counts_more_than_a_kept_run(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("t1", score=0.0)], "run1", {})
    edited = store.paths.snapshot.read_bytes().replace(b'"score":0.0', b'"score":0.75')
    store.paths.snapshot.write_bytes(edited + b"rubbish")
    repair_snapshot(store.paths)
    assert list(scores(store).values()) == [0.75]


def test_nothing_to_repair_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        repair_snapshot(open_test_store(tmp_path).paths)


def test_a_healthy_file_is_left_alone(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workspace_files.write()
    store = open_test_store(folder)
    store.add([make_result("t1"), make_result("t2")], "run1", {})
    assert is_healthy(store.paths)
    before = store.paths.snapshot.read_bytes()
    assert main(["--data", str(folder), "results", "--repair"]) == 0
    assert "is not damaged" in capsys.readouterr().out
    assert store.paths.snapshot.read_bytes() == before
    assert not list(folder.glob("*damaged*"))


def test_a_repair_accepts_rows_that_were_edited(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("t1", score=0.0)], "run1", {})
    edited = store.paths.snapshot.read_bytes().replace(b'"score":0.0', b'"score":0.75')
    store.paths.snapshot.write_bytes(edited)
    assert not is_healthy(store.paths)
    assert list(scores(store).values()) == [0.75]
    repair_snapshot(store.paths)
    assert is_healthy(store.paths)
    assert list(scores(store).values()) == [0.75]


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_no_single_damaged_byte_changes_a_result_untold(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each byte of each file in turn takes another value."""
    store = open_test_store(tmp_path)
    rows = [make_result("t1", llm_id="a:b"), make_result("t2", llm_id="a:b", score=0.25)]
    store.add([*rows, make_result("t1", llm_id="c:d", score=0.5)], "run1", {"started": "now"})
    journal = store.open_run("run2", {"started": "now"})
    for result in (make_result("t3", llm_id="a:b"), make_result("t4", llm_id="a:b")):
        journal.append(result)
    journal.close()
    whole = told(store, caplog)
    assert not whole.is_told
    draw = random.Random(7)
    for path in (store.paths.snapshot, journal.path):
        content = path.read_bytes()
        for at in range(len(content)):
            byte = draw.choice((content[at] ^ 1, 10, draw.randrange(256)))
            path.write_bytes(content[:at] + bytes([byte]) + content[at + 1 :])
            found = told(store, caplog)
            assert found.is_told or found.rows == whole.rows, (path.name, at, byte)
        path.write_bytes(content)


class Told(NamedTuple):
    rows: dict[tuple[str, str, int], float | None]
    is_told: bool


def told(store: ResultStore, caplog: pytest.LogCaptureFixture) -> Told:
    caplog.clear()
    try:
        rows = scores(store)
    except StoreError:
        return Told({}, is_told=True)
    return Told(rows, is_told=bool(caplog.records))
