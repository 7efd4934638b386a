from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ConfigError, StoreError
from poor_bench.tuning.searches import (
    TuningFile,
    find_search,
    list_searches,
    read_search,
)


def write(folder: Path, run_id: str, kind: str = "prompt") -> Path:
    path = folder / "tuning" / f"{run_id}.jsonl"
    file = TuningFile(path, {"run_id": run_id, "kind": kind})
    file.append("attempt", {"n": 1})
    file.close()
    return path


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, "20261122T000000-aaaaaa")
    file = TuningFile(path)
    file.append("attempt", {"n": 2})
    file.close()
    search = read_search(path)
    assert search.kind == "prompt"
    assert search.of_kind("attempt") == [{"n": 1}, {"n": 2}]
    assert search.last("attempt") == {"n": 2}
    assert search.last("end") is None


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = write(tmp_path, "20261122T000000-aaaaaa")
    with path.open("ab") as stream:
        stream.write(b'{"attempt":{"n":2')
    file = TuningFile(path)
    file.append("attempt", {"n": 3})
    file.close()
    assert read_search(path).of_kind("attempt") == [{"n": 1}, {"n": 3}]


def test_two_processes_cannot_write_to_one_search(tmp_path: Path) -> None:
    path = write(tmp_path, "20261122T000000-aaaaaa")
    first = TuningFile(path)
    with pytest.raises(StoreError, match="another process uses it"):
        TuningFile(path)
    first.close()
    TuningFile(path).close()


def test_a_search_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path, "20261122T000000-aaaaaa")
    before = path.read_bytes()
    with pytest.raises(StoreError):
        TuningFile(path, {"run_id": "again"})
    assert path.read_bytes() == before


def test_searches_are_found_by_beginning_and_last(tmp_path: Path) -> None:
    write(tmp_path, "20261122T000000-aaaaaa")
    write(tmp_path, "20261122T000001-bbbbbb", kind="params")
    assert len(list_searches(tmp_path)) == 2
    assert find_search(tmp_path, "last").kind == "params"
    assert find_search(tmp_path, "last", kind="prompt").run_id == "20261122T000000-aaaaaa"
    assert find_search(tmp_path, "20261122T000001").kind == "params"
    with pytest.raises(ConfigError, match="matches several"):
        find_search(tmp_path, "2026")
    with pytest.raises(ConfigError, match="is not a search"):
        find_search(tmp_path, "1999")


def test_searches_of_older_versions_are_read_and_resumed(tmp_path: Path) -> None:
    path = tmp_path / "tuning" / "20261122T000000-aaaaaa.jsonl"
    path.parent.mkdir()
    path.write_text('{"tuning":{"run_id":"a","kind":"params"}}\n{"attempt":{"n":1}}\n{"atte')
    file = TuningFile(path)
    file.append("attempt", {"n": 2})
    file.close()
    search = find_search(tmp_path, "last", kind="params")
    assert search.of_kind("attempt") == [{"n": 1}, {"n": 2}]
