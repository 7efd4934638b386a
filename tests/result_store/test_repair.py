from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import StoreError
from poor_bench.result_store.repair import repair_snapshot
from tests.result_store.builders import make_result, open_test_store, scores


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
    with pytest.raises(StoreError, match="no such file"):
        repair_snapshot(open_test_store(tmp_path).paths)
