from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poor_bench.errors import StoreError
from poor_bench.models.result import Result
from poor_bench.results import store as store_module
from poor_bench.results.store import ResultStore
from tests.results.builders import make_failure, make_result, open_test_store, scores


def test_results_are_readable_before_the_run_ends(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    journal = store.open_run("run1", {})
    journal.append(make_result())
    assert scores(open_test_store(tmp_path)) == {("scripted:a", "sum_001", 1): 1.0}
    journal.close()


def test_merge_moves_finished_journals_into_the_snapshot_and_keeps_the_run(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result(), make_result("sum_002", score=0.5)], "run1", {"started": "now"})
    assert not store.paths.journals()
    assert [path.name for path in store.paths.runs()] == ["run1.jsonl"]
    document = json.loads(store.paths.snapshot.read_text())
    assert document["version"] == "1.0"
    assert [row["test_id"] for row in document["results"]["scripted:a"]] == ["sum_001", "sum_002"]


def test_rows_are_counted_once_until_there_are_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def note(paths: Iterable[Path], most: int) -> int:
        counted.append(most)
        return count(paths, most)

    count = store_module._count_rows
    monkeypatch.setattr(store_module, "_count_rows", note)
    monkeypatch.setattr(store_module, "FEW_RESULTS", 1)
    store = open_test_store(tmp_path)
    assert not store.is_large()
    journal = store.open_run("run1", {})
    journal.append(make_result())
    counted.clear()
    assert [store.is_large() for _ in range(3)] == [False] * 3
    journal.append(make_result("sum_002"))
    assert [store.is_large() for _ in range(3)] == [True] * 3
    assert counted == [1, 1]
    journal.close()
    store.merge()
    assert store.is_large()


def test_merge_leaves_a_journal_that_is_still_written(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    journal = store.open_run("run1", {})
    journal.append(make_result())
    assert open_test_store(tmp_path).merge() == 0
    journal.append(make_result("sum_002"))
    journal.close()
    assert store.merge() == 1
    assert len(scores(store)) == 2


def test_newest_result_of_a_trial_wins_and_stands_once(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result(score=0.0)], "run1", {})
    store.add([make_result(score=1.0), make_result(score=0.5, trial=2)], "run2", {})
    assert scores(store) == {("scripted:a", "sum_001", 1): 1.0, ("scripted:a", "sum_001", 2): 0.5}


def test_failure_stands_apart_until_the_trial_is_scored(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result(failure=make_failure())], "run1", {})
    document = json.loads(store.paths.snapshot.read_text())
    assert document["results"] == {}
    assert document["failures"]["scripted:a"][0]["failure"]["kind"] == "connection"
    store.add([make_result(score=0.25)], "run2", {})
    assert [(result.score, result.failure) for result in store.results()] == [(0.25, None)]
    assert json.loads(store.paths.snapshot.read_text())["failures"] == {}


def test_failure_of_a_later_run_does_not_remove_a_score(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result()], "run1", {})
    store.add([make_result(failure=make_failure())], "run2", {})
    found = list(store.results())
    assert [result.score for result in found] == [1.0, None]


def test_file_of_an_older_tool_keeps_its_unknown_fields(tmp_path: Path) -> None:
    old = {
        "version": "1.0",
        "made_by": "older tool",
        "results": {"ollama:x": [{"test_id": "t", "score": 1, "colour": "red"}]},
    }
    (tmp_path / "results.json").write_text(json.dumps(old, indent=2))
    store = open_test_store(tmp_path)
    store.add([make_result()], "run1", {})
    document = json.loads(store.paths.snapshot.read_text())
    assert document["made_by"] == "older tool"
    [row] = document["results"]["ollama:x"]
    assert row == {"test_id": "t", "score": 1, "colour": "red", "crc": row["crc"]}
    assert "scripted:a" in document["results"]


def test_new_rows_of_an_llm_join_its_old_ones(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("t1", "a"), make_result("t1", "b")], "run1", {})
    store.add([make_result("t2", "a"), make_result("t2", "c"), make_result("t1", "b")], "run2", {})
    document = orjson.loads(store.paths.snapshot.read_bytes())
    rows = {llm: [row["test_id"] for row in rows] for llm, rows in document["results"].items()}
    assert rows == {"a": ["t1", "t2"], "b": ["t1"], "c": ["t2"]}


def test_ids_of_older_tools_count_as_the_llm_they_mean(tmp_path: Path) -> None:
    old = {"version": "1.0", "results": {"x:false": [{"test_id": "t", "score": 0.0}]}}
    (tmp_path / "results.json").write_text(json.dumps(old))
    paths = open_test_store(tmp_path).paths
    store = ResultStore(paths, lambda llm_id: llm_id.removesuffix(":false"))
    store.add([make_result("t", "x", score=1.0)], "run1", {})
    assert scores(store) == {("x", "t", 1): 1.0}


def test_transport_errors_of_older_tools_become_failures(tmp_path: Path) -> None:
    rows = [{"test_id": "t", "score": 0.0, "response": "[API ERROR] 500"}]
    (tmp_path / "results.json").write_text(json.dumps({"version": "1.0", "results": {"x": rows}}))
    [result] = open_test_store(tmp_path).results()
    assert result.score is None
    assert result.failure is not None
    assert result.failure.message == "500"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"results": {"a": 5}}', b"\xff\xfe"])
def test_damaged_snapshot_is_an_error_and_is_never_overwritten(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "results.json").write_bytes(content)
    store = open_test_store(tmp_path)
    with pytest.raises(StoreError, match=r"results\.json"):
        store.add([make_result()], "run1", {})
    assert (tmp_path / "results.json").read_bytes() == content
    assert len(store.paths.journals()) == 1


@pytest.mark.parametrize("cut", [2, 3, 40, 100])
def test_snapshot_without_its_end_is_an_error(tmp_path: Path, cut: int) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result(), make_result("t2")], "run1", {})
    content = store.paths.snapshot.read_bytes()
    store.paths.snapshot.write_bytes(content[:-cut])
    with pytest.raises(StoreError, match="damaged"):
        list(store.results())


def test_lines_that_an_editor_padded_are_no_damage(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add(
        [make_result(), make_result("t2"), make_result("t3", failure=make_failure())], "r", {}
    )
    known = scores(store)
    lines = store.paths.snapshot.read_text().splitlines()
    store.paths.snapshot.write_text("\n\n".join([lines[0], *(f"  {line}\t" for line in lines[1:])]))
    assert scores(store) == known
    store.add([make_result("t4")], "s", {})
    assert len(scores(store)) == len(known) + 1


def test_unreadable_row_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    rows = [{"test_id": "t1", "score": 7}, {"score": 1}, {"test_id": "t2", "score": 1}]
    (tmp_path / "results.json").write_text(json.dumps({"version": "1.0", "results": {"x": rows}}))
    assert [result.test_id for result in open_test_store(tmp_path).results()] == ["t2"]


def test_fingerprint_changes_with_every_result(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    seen = {store.paths.fingerprint()}
    journal = store.open_run("run1", {})
    for number in range(3):
        journal.append(make_result(f"t{number}"))
        seen.add(store.paths.fingerprint())
    journal.close()
    assert len(seen) == 4


_TEXT = st.text(st.characters(codec=None), max_size=40)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(details=_TEXT, response=_TEXT, test_id=st.text(min_size=1, max_size=10))
def test_any_text_survives_storing_and_merging(
    tmp_path_factory: pytest.TempPathFactory, details: str, response: str, test_id: str
) -> None:
    store = open_test_store(tmp_path_factory.mktemp("store"))
    store.add([make_result(test_id, details=details, response=response)], "run1", {})
    store.add([make_result("other")], "run2", {})
    by_response: list[Result] = [result for result in store.results() if result.test_id != "other"]
    escaped = response.encode("utf-8", "backslashreplace").decode()
    assert test_id == "other" or [result.response for result in by_response] == [escaped]


def test_what_the_system_refuses_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    store = open_test_store(tmp_path)
    with pytest.raises(StoreError, match=r"results\.json: Is a directory") as raised:
        list(store.results())
    assert raised.value.hint
    with pytest.raises(StoreError, match="Is a directory"):
        store.add([make_result()], "run1", {})
    assert len(list(store.paths.journals())) == 1


def test_symbolic_link_is_followed_and_permissions_are_kept(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"results": {}}')
    elsewhere.chmod(0o600)
    (tmp_path / "results.json").symlink_to(elsewhere)
    store = open_test_store(tmp_path)
    store.add([make_result()], "run1", {})
    assert (tmp_path / "results.json").is_symlink()
    assert b"sum_001" in elsewhere.read_bytes()
    assert elsewhere.stat().st_mode & 0o777 == 0o600


def test_empty_results_file_is_damage_and_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "results.json").touch()
    with pytest.raises(StoreError, match="it is empty"):
        list(open_test_store(tmp_path).results())
