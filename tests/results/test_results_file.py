from __future__ import annotations

import json
import os
from pathlib import Path

import orjson
import pytest

from poor_bench.errors import StoreError
from poor_bench.results.results_file import (
    KnownTests,
    WantedTests,
    find_run_tests,
    newest_of_trials,
    read_results_file,
)
from poor_bench.runs.history import read_stored_runs
from tests.results.builders import make_failure, make_result, open_test_store

RECORD = {"llm_id": "scripted:a", "test_id": "sum_001", "score": 1.0}


def test_run_and_snapshot_hold_the_same_results(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    stored = [make_result("sum_001"), make_result("sum_002", failure=make_failure())]
    store.add(stored, "20261121T100000-aaaaaa", {"started": "2026-11-21T10:00:00Z"})
    [run] = read_stored_runs(store.paths.runs())
    assert read_results_file(run.path).results == stored
    assert read_results_file(store.paths.snapshot).results == stored


def test_journal_tells_its_run(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result()], "20261121T100000-aaaaaa", {"machine": {"cpu": "x"}})
    [run] = read_stored_runs(store.paths.runs())
    assert run.run_id == "20261121T100000-aaaaaa"
    assert read_results_file(run.path).headers == {run.run_id: run.header}
    assert run.header["machine"] == {"cpu": "x"}


@pytest.mark.parametrize(
    "document",
    [
        {"results": [RECORD], "runs": {"r": {"machine": {"cpu": "x"}}}},
        {"version": "1.0", "results": {"scripted:a": [{"test_id": "sum_001", "score": 1.0}]}},
    ],
    ids=["report", "snapshot of another tool"],
)
def test_json_documents_are_read(tmp_path: Path, document: object) -> None:
    path = tmp_path / "base.json"
    path.write_text(json.dumps(document, indent=1))
    [result] = read_results_file(path, lambda llm_id: llm_id.upper()).results
    assert (result.llm_id, result.score) == ("SCRIPTED:A", 1.0)


def test_unreadable_rows_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "run.jsonl"
    lines = [json.dumps(RECORD), "{broken", json.dumps({**RECORD, "score": "high"})]
    path.write_text("\n".join(lines) + "\n")
    assert len(read_results_file(path).results) == 1
    assert len(caplog.records) == 2


@pytest.mark.parametrize("content", ["", "[]", "not json", '{"results": 3}'])
def test_files_without_results_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(content)
    with pytest.raises(StoreError, match=r"base\.json"):
        read_results_file(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere\.json cannot be read"):
        read_results_file(tmp_path / "nowhere.json")


def test_newest_score_of_a_trial_counts_and_else_its_newest_failure() -> None:
    first, second = make_failure("first"), make_failure("second")
    history = [
        make_result("a", score=0.0), make_result("a", score=1.0), make_result("a", failure=first),
        make_result("b", failure=first), make_result("b", failure=second),
        make_result("c", failure=first), make_result("c", score=0.5),
    ]  # fmt: skip
    newest = {result.test_id: result for result in newest_of_trials(history)}
    assert newest["a"].score == 1.0
    assert newest["b"].failure == second
    assert newest["c"].score == 0.5


def test_only_results_of_wanted_models_are_read_however_a_line_names_them(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    records = [
        {"llm_id": "old:a", "test_id": "sum_001", "score": 1.0},
        {"llm_id": "b", "test_id": "sum_002", "score": 1.0},
        {"test_id": "sum_003", "llm_id": "b", "score": 1.0},
        {"test_id": "sum_004", "llm_id": "old:a", "score": 1.0},
        {"llm_id": "älter", "test_id": "sum_005", "score": 1.0},
    ]
    path.write_text("\n".join(json.dumps(record) for record in records).replace('": "', '":"'))
    path.write_bytes(path.read_bytes() + b'\n{"llm_id":"\xff')
    names = {"old:a": "a", "älter": "a"}
    asked: list[str] = []

    def is_wanted(llm_id: str) -> bool:
        asked.append(llm_id)
        return llm_id == "a"

    found = read_results_file(path, lambda llm_id: names.get(llm_id, llm_id), is_wanted).results
    assert [result.test_id for result in found] == ["sum_001", "sum_004", "sum_005"]
    assert {"a", "b"} <= {*asked}


@pytest.mark.parametrize(("last", "n_found"), [("b", 0), ("a", 1)])
def test_a_run_of_unwanted_models_is_skipped_unless_a_line_is_of_another(
    tmp_path: Path, last: str, n_found: int
) -> None:
    path = tmp_path / "run.jsonl"
    lines = ['{"run":{"run_id":"r","llms":{"b":2}}}', '{"llm_id":"b","test_id":"t","score":1.0}']
    lines.append(f'{{"test_id":"u","llm_id":"{last}","score":1.0}}')
    path.write_text("\n".join(lines))
    found = read_results_file(path, is_wanted=lambda llm_id: llm_id == "a")
    assert (len(found.results), [*found.headers]) == (n_found, ["r"])


def test_of_a_run_only_failures_and_scores_of_wanted_tests_are_read(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    failure = make_failure()
    stored = [
        make_result("sum_001"), make_result("sum_002"), make_result("sum_001", "scripted:b"),
        make_result("sum_002", "scripted:b"), make_result('of "b"', "scripted:b"),
        make_result("sum_003"), make_result("sum_004", failure=failure),
    ]  # fmt: skip
    store.add(stored, "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    tests = WantedTests({"scripted:a": {"sum_001"}, "scripted:b": {"sum_002"}})
    read = read_results_file(run, tests=tests).results
    assert read == [stored[0], *stored[3:5], stored[6]]  # escaped letters are not understood
    assert tests.others == {"scripted:a": {"sum_002", "sum_003"}, "scripted:b": {"sum_001"}}


def test_torn_line_is_no_score_that_was_passed_over(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("sum_001"), make_result("sum_002")], "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    run.write_bytes(run.read_bytes()[:-9])
    tests = WantedTests({})
    assert read_results_file(run, tests=tests).results == []
    assert tests.others == {"scripted:a": {"sum_001"}}


def test_damaged_name_of_a_test_is_no_score_that_was_passed_over(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("sum_001"), make_result("sum_002")], "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    run.write_bytes(run.read_bytes().replace(b"sum_002", b"sum_00\xff"))
    tests = WantedTests({})
    assert read_results_file(run, tests=tests).results == []
    assert tests.others == {"scripted:a": {"sum_001"}}


def _read_known(run: Path, known: KnownTests, *wanted: str) -> tuple[list[str], set[str]]:
    tests = WantedTests({"scripted:a": wanted})
    read = read_results_file(run, tests=tests, known=known)
    assert [*read.headers] == ["20261121T100000-aaaaaa"]
    return [result.test_id for result in read.results], tests.others.get("scripted:a", set())


def test_tests_of_a_run_are_kept_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poor_bench.results.results_file._LEAST_KNOWN", 1)
    store = open_test_store(tmp_path)
    tests = ["sum_001", "sum_002", "größe", "sum_002"]
    stored = [make_result(test, trial=trial) for trial, test in enumerate(tests, start=1)]
    store.add(stored, "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    found = ["sum_002", "sum_002"], {"sum_001", "größe"}
    known = KnownTests(tmp_path, [run.stem])
    assert _read_known(run, known, "sum_002", "sum_009") == found
    known.keep()
    status = run.stat()
    content = run.read_bytes()
    run.write_bytes(content.replace(b"sum_001", b"sum_007"))
    os.utime(run, ns=(status.st_atime_ns, status.st_mtime_ns))  # nobody would notice
    assert _read_known(run, KnownTests(tmp_path, [run.stem]), "sum_002") == found
    assert _read_known(run, KnownTests(tmp_path, [run.stem]), "other") == (
        [],
        {"sum_001", "sum_002", "größe"},
    )
    run.write_bytes(content + content.splitlines()[2].replace(b"sum_002", b"sum_003") + b"\n")
    assert _read_known(run, KnownTests(tmp_path, [run.stem]), "other")[1] >= {"sum_001", "größe"}


def test_tests_of_runs_that_are_gone_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poor_bench.results.results_file._LEAST_KNOWN", 1)
    monkeypatch.setattr("poor_bench.results.results_file._MOST_KNOWN", 3)
    store = open_test_store(tmp_path)
    results = [make_result("sum_001"), make_result("sum_002")]
    store.add(results, "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    first = KnownTests(tmp_path, [run.stem])
    _read_known(run, first)
    first.keep()
    [path] = tmp_path.glob("index/*/tests.json")
    later = tmp_path / "later.jsonl"
    later.write_bytes(run.read_bytes().replace(b"sum_00", b"sum_01"))
    kept = {}
    for names in ([run.stem, "later"], ["later"]):
        known = KnownTests(tmp_path, names)
        read_results_file(later, tests=WantedTests({}), known=known)
        known.keep()
        kept[len(names)] = orjson.loads(path.read_bytes())
    assert [*kept[2]["runs"]] == [run.stem]  # no more than three names
    assert [*kept[1]["runs"]] == ["later"]
    assert kept[1]["lists"] == [["sum_011", "sum_012"]]


@pytest.mark.parametrize(
    "kept", [b"", b"[]", b'{"lists":[[1]],"runs":{}}', b'{"lists":[],"runs":{"r":[1,2,3,"a",0]}}']
)
def test_damaged_list_of_known_tests_is_as_none(
    tmp_path: Path, kept: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poor_bench.results.results_file._LEAST_KNOWN", 1)
    store = open_test_store(tmp_path)
    store.add([make_result("sum_001"), make_result("sum_002")], "20261121T100000-aaaaaa", {})
    [run] = store.paths.runs()
    known = KnownTests(tmp_path, [run.stem])
    _read_known(run, known)
    known.keep()
    [path] = tmp_path.glob("index/*/tests.json")
    path.write_bytes(kept)
    assert _read_known(run, KnownTests(tmp_path, [run.stem]), "sum_001") == (
        ["sum_001"],
        {"sum_002"},
    )


@pytest.mark.parametrize(
    "lines",
    [
        b'{"llm_id":"a","test_id":"t\\"x","score":1.0}\n{"llm_id":"a","test_id":"u","score":1.0}\n',
        b'{"llm_id":"a","test_id":"t","score":1.0}\n{"llm_id":"b","test_id":"u","score":1.0}\n',
        b'{"llm_id":"a","test_id":"t","failure":{}}\n{"llm_id":"a","test_id":"u","score":1.0}\n',
        b'{"llm_id":"a","test_id":"\xff","score":1.0}\n{"llm_id":"a","test_id":"u","score":1.0}\n',
        b'{"test_id":"t","llm_id":"a","score":1.0}\n{"llm_id":"a","test_id":"u","score":1.0}\n',
        b'{"llm_id":"a","test_id":"t","score":1.0}\n\n{"llm_id":"a","test_id":"u","score":1.0}\n',
        b'{"llm_id":"a","test_id":"t","score":1.0}\n{"llm_id":"a","test_id":"u","score":1.0}',
        b"",
    ],
)
def test_tests_of_other_runs_are_known_by_reading_them_only(lines: bytes) -> None:
    assert find_run_tests(b'{"run":{"run_id":"r"}}\n' + lines) is None
    one = b'{"llm_id":"a","test_id":"t","score":1.0}\n'
    assert find_run_tests(one + one) is None
    assert find_run_tests(b'{"run":{}}\n' + one + one) == (b"a", [b"t", b"t"])
