"""The index: tables of a store, read once and followed."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poor_bench.errors import ConfigError, StoreError
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results import database, index, settled, sources
from poor_bench.results.columns import ALL_COLUMNS
from poor_bench.results.connections import open_database
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import LIMIT_VARIABLE, ResultStore
from poor_bench.results.table import ResultTable, TrialKey

RUN = "20260101T000000-a"
LATER = "20260102T000000-b"
FAILURE = Failure(kind=FailureKind.TIMEOUT, message="too slow", attempts=2)
TEXT_FIELDS = (
    "details", "response", "thinking", "prompt", "system_prompt", "extracted", "expected", "got",
    "cause",
    "timestamp", "request_fingerprint", "evaluator_fingerprint",
)  # fmt: skip
Rows = dict[tuple[tuple[str, str, int], bool], Result]


def open_store(folder: Path, resolve: Callable[[str], str] = lambda name: name) -> ResultStore:
    return ResultStore(StorePaths(folder / "results.json"), resolve)


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return open_store(tmp_path)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_PART_ROWS", 2)


def scored(test_id: str, score: float, llm_id: str = "a:b", **fields: object) -> Result:
    return Result(llm_id=llm_id, test_id=test_id, score=score, **fields)  # type: ignore[arg-type]


def failed(test_id: str, **fields: object) -> Result:
    return Result(llm_id="a:b", test_id=test_id, failure=FAILURE, **fields)  # type: ignore[arg-type]


def whole(table: ResultTable) -> list[Result]:
    return list(table.whole(range(len(table))))


def scores(table: ResultTable) -> dict[str, float | None]:
    return {table.value("test_id", row): table.number("score", row) for row in range(len(table))}


def rows_of(results: list[Result]) -> Rows:
    return {(result.key, result.failure is not None): result for result in results}


def found(table: ResultTable, words: str) -> list[int]:
    return np.flatnonzero(table.holding(words, np.arange(len(table)))).tolist()


def parts(store: ResultStore) -> list[Path]:
    return sorted((store.paths.snapshot.parent / "index").rglob("*.parquet"))


def test_an_empty_store_gives_an_empty_table(store: ResultStore) -> None:
    table = store.table()
    assert len(table) == 0
    assert table.llm_ids == ()
    assert table.latest == ""
    assert not found(table, "x")


@pytest.mark.slow(reason="stores megabytes")
def test_few_but_long_answers_leave_the_memory(store: ResultStore) -> None:
    long = "x" * (index._PART_BYTES + 1)
    store.add([scored("one", 1.0, response=long)], RUN, {})
    table = store.table()
    assert parts(store)
    assert [result.response for result in whole(table)] == [long]


def test_the_same_files_give_the_same_table(store: ResultStore) -> None:
    store.add([scored("one", 1.0)], RUN, {})
    assert store.table() is store.table()


def test_every_field_comes_back_as_it_was(store: ResultStore) -> None:
    results = [
        scored(
            "one",
            0.25,
            strict_score=0.0,
            details="**right**",
            response="a\0b \u2028 ß 😀",
            thinking="hm",
            timestamp="2026-01-01T00:00:00",
            execution_time_ms=12,
            think="low",
            trial=3,
            run_id="r",
            prompt="p",
            system_prompt="s",
            found="fenced",
            extracted="e",
            expected="x",
            got="g",
            cause="format",
            sandbox="process",
            finish_reason="stop",
            marks=("truncated", "loop"),
            prompt_tokens=1,
            completion_tokens=2,
            thinking_tokens=3,
            cached_tokens=4,
            first_token_ms=1.5,
            load_ms=2.5,
            queue_ms=3.5,
            prefill_ms=4.5,
            decode_ms=5.5,
            cost_usd=0.125,
            model_digest="sha",
            memory_bytes=2**40,
            gpu_share=0.5,
            request_fingerprint="f",
            evaluator_fingerprint="v",
            judgement={"judge": "j", "cost_usd": 0.5, "samples": [1]},
        ),
        scored("two", 1.0, think=False),
        failed("three", response="late"),
    ]
    store.add(results, RUN, {})
    table = store.table()
    assert whole(table) == results
    assert [type(result.prompt_tokens) for result in whole(table)] == [int, type(None), type(None)]
    light = next(table.whole([0], ()))
    assert light.response == ""
    assert light.judge_cost_usd == 0.5
    assert replace(light, judgement=None) == replace(
        results[0],
        **dict.fromkeys(TEXT_FIELDS, ""),
        model_digest=None,
        judgement=None,
    )


def test_the_index_has_a_column_for_every_field() -> None:
    stored = {field.name for field in fields(Result)} - {"failure"}
    assert stored <= ALL_COLUMNS.keys()


TRIALS = st.builds(
    Result,
    llm_id=st.sampled_from(["a", "b", "a:true"]),
    test_id=st.sampled_from(["one", "two", "three"]),
    trial=st.integers(1, 2),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    response=st.text(max_size=4),
) | st.builds(
    Result,
    llm_id=st.sampled_from(["a", "b"]),
    test_id=st.sampled_from(["one", "two"]),
    failure=st.just(FAILURE),
)
STEPS = st.one_of(
    st.tuples(st.just("run"), st.lists(TRIALS, max_size=6)),
    st.tuples(st.just("append"), st.lists(TRIALS, min_size=1, max_size=4)),
    st.tuples(
        st.sampled_from(
            ["look", "close", "edit", "remove index", "new process", "damage", "damage rows",
             "few", "many", "export"]
        ),
        st.none(),
    ),
)  # fmt: skip


@pytest.mark.slow(reason="many stores, step by step")
@settings(max_examples=20, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_index_tells_what_the_files_tell(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[Result] | None]]
) -> None:
    logging.disable(logging.WARNING)
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_PART_ROWS", 2)
        patch.setattr(sources, "_BATCH_ROWS", 3)
        patch.setattr(sources, "_BATCH_BYTES", 700)
        patch.setattr(settled, "FEWEST_NEW_ROWS", 2)
        history = _History(folder, patch)
        try:
            for name, results in steps:
                history.step(name, results or [])
                history.check()
        finally:
            history.close()
            logging.disable(logging.NOTSET)
            shutil.rmtree(folder)


class _History:
    """What happens to a store, step by step."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch
        self.n_runs = 0
        self.open_process()
        self.journal = None

    def open_process(self) -> None:
        self.store = open_store(self.folder, lambda llm_id: llm_id.removesuffix(":true"))

    def run_id(self) -> str:
        self.n_runs += 1
        return f"20260101T{self.n_runs:06}-a"

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()
            self.journal = None

    def step(self, name: str, results: list[Result]) -> None:
        match name:
            case "run":
                self.store.add(results, self.run_id(), {})
            case "append":
                self.journal = self.journal or self.store.open_run(self.run_id(), {})
                for result in results:
                    self.journal.append(result)
            case "close":
                self.close()
                self.store.merge()
            case "edit" if self.store.paths.snapshot.exists():
                self._edit()
            case "few" | "many":
                self.patch.setenv(LIMIT_VARIABLE, "3" if name == "many" else "1000")
            case "export":
                self.store.export()
            case _:
                self._harm(name)

    def _harm(self, name: str) -> None:
        if name == "remove index":
            shutil.rmtree(self.folder / "index", ignore_errors=True)
        if name == "damage":
            for path in parts(self.store)[:1]:
                path.write_bytes(path.read_bytes()[:-9])
        if name == "damage rows":
            for path in (self.folder / "index").rglob("settled.bin"):
                content = bytearray(path.read_bytes())
                content[len(content) * 3 // 4] ^= 1
                path.write_bytes(content)
        if name != "edit":
            self.open_process()

    def _edit(self) -> None:
        """Remove the first row of each LLM, as another program would."""
        document = json.loads(self.store.paths.snapshot.read_bytes())
        for rows in document["results"].values():
            del rows[:1]
        self.store.paths.snapshot.write_text(json.dumps(document, indent=1))

    def check(self) -> None:
        told = list(self.store.results())
        with suppress(StoreError):  # tells once that an index is damaged, and removes it
            whole(self.store.table())
        table = whole(self.store.table())
        assert rows_of(table) == rows_of(told)
        assert len(table) == len(rows_of(told))


def test_results_of_a_running_run_appear_without_reading_all_again(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored("old", 0.5)], RUN, {})
    before = store.table()
    journal = store.open_run(LATER, {})
    monkeypatch.setattr(index, "read_snapshot", lambda *_args: pytest.fail("read again"))
    journal.append(scored("new", 1.0))
    assert scores(store.table()) == {"old": 0.5, "new": 1.0}
    assert scores(before) == {"old": 0.5}
    journal.close()


@pytest.mark.usefixtures("small_parts")
def test_a_run_that_enters_the_file_is_not_read_again(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    store.table()
    monkeypatch.setattr(index, "read_snapshot", lambda *_args: pytest.fail("read again"))
    store.add([scored(name, 1.0) for name in ("c", "d", "e")], LATER, {})
    wanted = {"a": 0.5, "b": 0.5, "c": 1.0, "d": 1.0, "e": 1.0}
    assert scores(store.table()) == wanted
    monkeypatch.setattr(index, "read_journal", lambda *_args: pytest.fail("read again"))
    assert scores(open_store(store.paths.snapshot.parent).table()) == wanted


def test_a_run_that_another_file_replaced_is_read_again(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    store.add([scored(name, 0.5) for name in ("c", "d")], RUN, {})
    store.table()
    other = open_store(tmp_path / "other")
    other.add([scored(name, 1.0) for name in ("a", "b", "c", "d")], RUN, {})
    [united] = other.paths.list_sealed()
    [present] = store.paths.list_sealed()
    united.replace(present)
    assert scores(store.table()) == dict.fromkeys("abcd", 1.0)


@pytest.mark.usefixtures("settled_rows")
@pytest.mark.parametrize("limit", ["0", "100"])
def test_a_copy_of_the_files_is_not_read_again(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    rows = {llm: [scored(name, 0.5, llm_id=llm) for name in "abc"] for llm in ("one", "two")}
    snapshot = {"results": {"old": [{"test_id": name, "score": 1.0} for name in "abc"]}}
    store.paths.snapshot.write_text(json.dumps(snapshot))
    store.table()
    monkeypatch.setenv(LIMIT_VARIABLE, limit)
    store.add(rows["one"], RUN, {})
    store.add(rows["two"], LATER, {})
    before = whole(store.table())
    copy = tmp_path / "copy"
    copied = (path for path in sorted(tmp_path.rglob("*")) if path.is_file())
    for path in list(copied):
        target = copy / path.relative_to(tmp_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name in ("read_snapshot", "read_journal"):
        monkeypatch.setattr(index, name, lambda *_args: pytest.fail("read again"))
    monkeypatch.setattr(
        index.Database, "count_part", lambda *_args: pytest.fail("parts were counted again")
    )
    assert whole(open_store(copy).table()) == before


@pytest.mark.usefixtures("settled_rows")
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("names", ["abc", "abcdef"])
def test_other_content_in_the_same_file_is_read(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_open: bool, names: str
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    store.add([scored(name, 0.5) for name in "abc"], RUN, {})
    store.table()
    [run] = store.paths.list_sealed()
    other = open_store(tmp_path / "other")
    other.add([scored(name, 0.7) for name in names], RUN, {})
    [united] = other.paths.list_sealed()
    inode = run.stat().st_ino
    with run.open("r+b") as stream:
        stream.write(united.read_bytes())
    assert run.stat().st_ino == inode
    again = store if is_open else open_store(tmp_path)
    assert scores(again.table()) == dict.fromkeys(names, 0.7)
    assert scores(open_store(tmp_path).table()) == dict.fromkeys(names, 0.7)


@pytest.mark.usefixtures("settled_rows")
def test_a_file_with_another_time_is_compared_once(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    store.add([scored(name, 0.5) for name in "abc"], RUN, {})
    store.table()
    [run] = store.paths.list_sealed()
    os.utime(run, (1, 1))
    wanted = scores(open_store(tmp_path).table())
    monkeypatch.setattr(sources, "compute_checksum", lambda *_args: pytest.fail("read again"))
    assert scores(open_store(tmp_path).table()) == wanted


@pytest.mark.usefixtures("settled_rows")
def test_other_content_of_the_results_file_is_read(store: ResultStore, tmp_path: Path) -> None:
    for score in (0.5, 0.7):
        rows = {"results": {"old": [{"test_id": name, "score": score} for name in "abc"]}}
        store.paths.snapshot.write_text(json.dumps(rows))
        assert scores(open_store(tmp_path).table()) == dict.fromkeys("abc", score)


@pytest.mark.usefixtures("small_parts")
def test_a_run_that_comes_late_does_not_count_for_the_newest(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored(name, 0.5) for name in "abc"], RUN, {})
    store.add([scored("c", 1.0)], LATER, {})
    assert scores(store.table())["c"] == 1.0
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    other, between = open_store(tmp_path / "other"), "20260101T120000-b"
    other.add([scored(name, 0.7) for name in "bc"], between, {})
    [draft] = other.paths.list_sealed()
    store.bring_in({between: draft})
    assert scores(open_store(tmp_path).table()) == {"a": 0.5, "b": 0.7, "c": 1.0}


@pytest.mark.usefixtures("settled_rows")
def test_opening_one_run_leaves_the_settled_rows_of_all(
    store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored(name, 0.5) for name in "abc"], RUN, {})
    store.add([scored(name, 1.0) for name in "cdef"], LATER, {})
    wanted = scores(store.table())
    assert scores(open_store(tmp_path).run_index(RUN).table()) == dict.fromkeys("abc", 0.5)
    monkeypatch.setattr(
        index.Database, "count_part", lambda *_args: pytest.fail("parts were counted again")
    )
    assert scores(open_store(tmp_path).table()) == wanted


def test_parts_of_content_that_is_not_known_are_not_used(
    store: ResultStore, tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    store.add([scored(name, 0.5) for name in "abc"], RUN, {})
    store.table()
    [known] = tmp_path.rglob("runs.json")
    for content in ("", "[]", '{"x": 1}', "{}"):
        known.write_text(content)
        assert scores(open_store(tmp_path).table()) == dict.fromkeys("abc", 0.5)


@pytest.mark.usefixtures("small_parts")
def test_parts_are_never_rewritten(store: ResultStore) -> None:
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    store.table()
    first = {path: path.stat().st_mtime_ns for path in parts(store)}
    assert first
    store.add([scored(name, 1.0) for name in ("a", "d", "e")], LATER, {})
    store.table()
    later = {path: path.stat().st_mtime_ns for path in parts(store)}
    assert len(later) == 2 * len(first)
    assert first.items() <= later.items()


@pytest.fixture
def settled_rows(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled, "FEWEST_NEW_ROWS", 2)


@pytest.mark.usefixtures("settled_rows")
def test_rows_that_were_settled_are_not_read_again(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    store.table()
    store.add([scored("b", 0.75), scored("d", 1.0)], LATER, {})
    monkeypatch.setattr(
        index.Database, "count_part", lambda *_args: pytest.fail("parts were counted again")
    )
    table = open_store(store.paths.snapshot.parent).table()
    assert scores(table) == {"a": 0.5, "b": 0.75, "c": 0.5, "d": 1.0}


@pytest.mark.usefixtures("settled_rows")
def test_rows_that_were_settled_need_no_duckdb_until_texts_are_read(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored(name, 0.5, response=f"answer {name}") for name in "abc"], RUN, {})
    store.table()
    opened = []

    def open_once(owner: object, n_bytes: int) -> tuple[Any, Any]:
        opened.append(n_bytes)
        return open_database(owner, n_bytes)

    monkeypatch.setattr(database, "open_database", open_once)
    table = open_store(store.paths.snapshot.parent).table()
    assert scores(table) == dict.fromkeys("abc", 0.5)
    assert table.text_columns([], ["response"]) == []
    assert not opened
    assert table.text_columns([1, 0], ["response"]) == [("answer b",), ("answer a",)]
    assert found(table, "answer c") == [2]
    assert len(opened) == 1


@pytest.mark.usefixtures("settled_rows")
def test_rows_that_every_process_reads_again_are_not_kept_as_settled(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    for number in range(4):
        store.add([scored(str(number), 1.0)], f"2026010{number + 1}T000000-a", {})
    monkeypatch.setattr(index, "write_settled", lambda *_args: pytest.fail("written"))
    assert len(store.table()) == 4


@pytest.mark.usefixtures("settled_rows")
def test_a_folder_that_takes_no_settled_rows_is_not_tried_with_every_result(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []
    monkeypatch.setattr(index, "write_settled", lambda folder, _rows: tried.append(folder))
    store.add([scored(str(number), 0.5) for number in range(40)], RUN, {})
    store.table()
    for number in range(3):
        store.add([scored(f"new {number}", 0.5)], f"2026020{number + 1}T000000-a", {})
        assert len(store.table()) == 41 + number
    assert len(tried) == 1


@pytest.mark.usefixtures("settled_rows")
def test_every_model_has_a_version_also_where_nothing_is_new(store: ResultStore) -> None:
    store.add([scored("a", 0.5), scored("b", 1.0)], RUN, {})
    store.add([scored(name, 1.0, llm_id="other") for name in ("a", "b")], LATER, {})
    store.table()
    table = open_store(store.paths.snapshot.parent).table()
    assert set(table.llm_versions) == set(table.llm_ids) == {"a:b", "other"}


@pytest.mark.usefixtures("settled_rows")
def test_settled_rows_follow_the_names_of_models(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.add([scored(name, 0.5) for name in ("a", "b")], RUN, {})
    store.add([scored(name, 1.0, llm_id="other") for name in ("a", "b")], LATER, {})
    assert store.table().llm_ids == ("a:b", "other")
    renamed = open_store(tmp_path, lambda name: name.replace("other", "new"))
    assert renamed.table().llm_ids == ("a:b", "new")
    joined = open_store(tmp_path, lambda _name: "one")
    assert scores(joined.table()) == {"a": 1.0, "b": 1.0}


@pytest.mark.usefixtures("settled_rows")
def test_settled_rows_are_written_again_only_when_many_are_new(store: ResultStore) -> None:
    store.add([scored(str(number), 0.5) for number in range(40)], RUN, {})
    store.table()
    [path] = (store.paths.snapshot.parent / "index").rglob("settled.bin")
    written = path.stat().st_mtime_ns
    store.add([scored(f"new {number}", 0.5) for number in range(4)], LATER, {})
    assert len(store.table()) == 44
    assert path.stat().st_mtime_ns == written


@pytest.mark.usefixtures("small_parts")
def test_a_changed_results_file_is_read_again(store: ResultStore) -> None:
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    store.table()
    text = store.paths.snapshot.read_text().replace('"score":0.5', '"score":0.75')
    store.paths.snapshot.write_text(text)
    assert set(scores(store.table()).values()) == {0.75}
    assert set(scores(open_store(store.paths.snapshot.parent).table()).values()) == {0.75}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.usefixtures("small_parts")
def test_parts_of_runs_stay_where_the_results_file_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    snapshot = tmp_path / "results.json"
    rows = [{"test_id": f"t{number}", "score": 1.0} for number in range(4)]
    snapshot.write_text(json.dumps({"version": "1.0", "results": {"c:d": rows}}))
    open_store(tmp_path).add([scored(f"t{number}", 0.5) for number in range(4)], RUN, {})
    open_store(tmp_path).table()
    before = {path: path.stat().st_ino for path in parts(open_store(tmp_path))}
    for path in before:
        os.utime(path, (0, 0))
    snapshot.write_text(json.dumps({"version": "1.0", "results": {"c:d": rows[1:]}}))
    assert len(open_store(tmp_path).table()) == 7
    after = {path: path.stat().st_ino for path in parts(open_store(tmp_path))}
    kept = {path: number for path, number in before.items() if path.name.startswith(RUN)}
    assert kept
    assert before.items() & after.items() == kept.items()


def test_where_no_folder_can_be_made_no_index_is_needed(store: ResultStore) -> None:
    (store.paths.snapshot.parent / "index").write_text("in the way")
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    assert len(whole(store.table())) == 3


@pytest.mark.usefixtures("small_parts")
def test_a_full_disk_needs_no_index(store: ResultStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    store.add([scored(name, 0.5, response=name) for name in ("a", "b", "c")], RUN, {})
    monkeypatch.setattr("poor_bench.results.database.Database._copy", full)
    table = store.table()
    assert parts(store) == []
    assert [result.response for result in whole(table)] == ["a", "b", "c"]
    assert found(table, "B") == [1]


@pytest.mark.usefixtures("small_parts")
def test_texts_of_an_index_that_was_removed_are_told_missing_once(store: ResultStore) -> None:
    store.add([scored(name, 0.5, response=name) for name in ("a", "b", "c")], RUN, {})
    table = store.table()
    shutil.rmtree(store.paths.snapshot.parent / "index")
    with pytest.raises(StoreError, match="index of the results is damaged"):
        whole(table)
    assert [result.response for result in whole(store.table())] == ["a", "b", "c"]


@pytest.mark.usefixtures("small_parts")
def test_folders_may_have_any_name(tmp_path: Path) -> None:
    store = open_store(tmp_path / "it's [1] *")
    store.paths.snapshot.parent.mkdir()
    store.add([scored(name, 0.5) for name in ("a", "b", "c")], RUN, {})
    store.table()
    assert parts(store)
    assert len(whole(open_store(store.paths.snapshot.parent).table())) == 3


def test_many_results_stay_out_of_the_file_until_they_are_exported(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "2")
    store.add([scored("one", 0.0), scored("two", 1.0)], RUN, {})
    written = store.paths.snapshot.read_bytes()
    store.add([scored("one", 1.0)], "20260102T000000-a", {})
    assert b'"score":1.0' in store.paths.snapshot.read_bytes()  # the trial was repeated
    written = store.paths.snapshot.read_bytes()
    store.add([scored("three", 0.5)], "20260103T000000-a", {})
    assert store.paths.snapshot.read_bytes() == written
    assert [path.stem for path in store.paths.list_sealed()] == ["20260103T000000-a"]
    assert len(store.paths.runs()) == 3
    wanted = {"one": 1.0, "two": 1.0, "three": 0.5}
    assert scores(store.table()) == wanted
    assert {result.test_id: result.score for result in store.results()} == wanted
    assert store.export() == 3
    assert store.paths.list_sealed() == []
    assert b'"three"' in store.paths.snapshot.read_bytes()
    assert scores(store.table()) == wanted


def test_a_wrong_limit_is_told_before_a_run_begins(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "many")
    with pytest.raises(ConfigError, match="must be a whole number, not 'many'"):
        store.open_run(RUN, {})
    assert store.paths.journals() == []


def test_a_newer_score_takes_the_row_of_the_older_one(store: ResultStore) -> None:
    store.add([scored("one", 0.0, response="old"), scored("two", 1.0)], RUN, {})
    store.table()
    journal = store.open_run(LATER, {})
    journal.append(scored("one", 1.0, response="new"))
    table = store.table()
    assert [(result.test_id, result.response) for result in whole(table)] == [
        ("one", "new"),
        ("two", ""),
    ]
    assert table.find("a:b", TrialKey("one", 1, is_failure=False)) == 0
    journal.close()


def test_a_score_settles_the_failure_before_it_and_not_the_one_after(store: ResultStore) -> None:
    store.add([failed("one")], RUN, {})
    assert scores(store.table()) == {"one": None}
    journal = store.open_run(LATER, {})
    journal.append(scored("one", 1.0))
    table = store.table()
    assert [table.key(row) for row in range(len(table))] == [TrialKey("one", 1, is_failure=False)]
    journal.append(failed("one"))
    table = store.table()
    assert [table.value("failure_kind", row) for row in range(2)] == [None, FailureKind.TIMEOUT]
    assert [result.failure for result in whole(table)] == [None, FAILURE]
    journal.close()


def test_a_line_that_is_still_being_written_counts_when_it_is_complete(store: ResultStore) -> None:
    journal = store.open_run(RUN, {})
    line = b'{"llm_id":"a:b","test_id":"one","score":1.0}\n'
    for start, end in ((0, 20), (20, len(line))):
        assert scores(store.table()) == {}
        with journal.path.open("ab") as stream:
            stream.write(line[start:end])
    assert scores(store.table()) == {"one": 1.0}
    journal.close()


def test_unusable_lines_are_left_out_and_told(
    store: ResultStore, caplog: pytest.LogCaptureFixture
) -> None:
    journal = store.open_run(RUN, {})
    with journal.path.open("ab") as stream:
        stream.write(b'{"llm_id":"a:b","test_id":"bad","score":7}\nrubbish\n')
    journal.append(scored("good", 1.0))
    assert scores(store.table()) == {"good": 1.0}
    assert "score must be a number from 0 to 1" in caplog.text
    assert ".jsonl:3 is not readable" in caplog.text
    journal.close()


def test_damaged_files_are_told_until_they_change(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([scored("one", 1.0)], RUN, {})
    assert len(store.table()) == 1
    text = store.paths.snapshot.read_text()
    store.paths.snapshot.write_text(f"{text} rubbish")
    with pytest.raises(StoreError, match="damaged"):
        store.table()
    with monkeypatch.context() as patch:
        patch.setattr(index, "read_snapshot", lambda *_args: pytest.fail("read again"))
        with pytest.raises(StoreError, match="damaged"):
            store.table()
    store.paths.snapshot.write_text(text)
    assert scores(store.table()) == {"one": 1.0}


def test_only_the_llm_with_new_results_has_a_new_version(store: ResultStore) -> None:
    store.add([scored("one", 1.0), scored("one", 1.0, llm_id="c:d")], RUN, {})
    before = store.table().llm_versions
    journal = store.open_run(LATER, {})
    journal.append(scored("two", 1.0))
    after = store.table().llm_versions
    assert after["c:d"] == before["c:d"]
    assert after["a:b"] != before["a:b"]
    journal.close()


def test_ids_that_mean_one_llm_are_one(tmp_path: Path) -> None:
    store = open_store(tmp_path, lambda llm_id: llm_id.removesuffix(":true"))
    store.add([scored("one", 0.0, llm_id="a:b:true"), scored("one", 1.0)], RUN, {})
    assert store.table().llm_ids == ("a:b",)
    assert scores(store.table()) == {"one": 1.0}


def test_rows_of_older_tools_are_failures(store: ResultStore) -> None:
    row = {"test_id": "one", "score": 0.0, "response": "[API ERROR] 500"}
    store.paths.snapshot.write_text(json.dumps({"results": {"a:b": [row]}}))
    assert [result.failure.message for result in whole(store.table()) if result.failure] == ["500"]


def test_texts_that_no_file_can_hold_are_kept_escaped(store: ResultStore) -> None:
    store.paths.snapshot.write_text(
        '{"results": {"a:b": [{"test_id": "t", "score": 0, "response": "half \\ud800 a pair"}]}}'
    )
    assert [result.response for result in whole(store.table())] == ["half \\ud800 a pair"]


TEXTS = st.text(alphabet="abßς\0\n ", max_size=6)


@pytest.mark.slow(reason="a store for every example")
@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, max_size=8), st.text(alphabet="AbSß\n ", min_size=1, max_size=3))
def test_exactly_the_rows_that_hold_the_words_are_found(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], words: str
) -> None:
    store = open_store(tmp_path_factory.mktemp("store"))
    results = [scored(f"t{n}", 1.0, response=f"<{text}>") for n, text in enumerate(texts)]
    store.add(results, RUN, {})
    sought = words.casefold()
    assert found(store.table(), words) == [
        row
        for row, result in enumerate(results)
        if any(sought in text.casefold() for text in (result.test_id, result.response))
    ]


def test_only_what_is_shown_of_a_text_is_read(store: ResultStore) -> None:
    store.add([scored("one", 1.0, response="x" * 100_000)], RUN, {})
    [texts] = store.table().text_columns([0], ["left(response, 3)", "length(response)"])
    assert texts == ("xxx", 100_000)


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_rows_are_settled_in_steps_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        Result(llm_id=f"m{number % 3}", test_id=f"t{number % 5}", trial=1 + number % 2, score=score)
        for number, score in enumerate([0.0, 0.25, 0.5, 0.75, 1.0] * 8)
    ]
    store = ResultStore(StorePaths(tmp_path / "results.json"), lambda name: name)
    for start in range(0, len(rows), 8):
        store.add(rows[start : start + 8], f"2026010{1 + start // 8}T000000-a", {})

    def read() -> list[Result]:
        table = ResultStore(StorePaths(tmp_path / "results.json"), lambda name: name).table()
        return [*table.whole(range(len(table)))]

    expected = read()
    monkeypatch.setattr(database, "_MOST_INCOMING", 3)
    assert read() == expected
    assert len(expected) == 30


def test_a_process_that_settled_many_rows_goes_on_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_PART_ROWS", 2)
    monkeypatch.setattr(settled, "FEWEST_NEW_ROWS", 2)
    store = ResultStore(StorePaths(tmp_path / "results.json"), lambda name: name)
    store.add([Result(llm_id="m", test_id=f"t{n}", score=1.0) for n in range(9)], "2026-a", {})
    table = store.table()
    assert table.basis is not None
    assert len(table) == 9
    assert table.columns["strict_score"].strides == (0,)


@pytest.mark.usefixtures("settled_rows")
def test_many_new_rows_go_to_the_file_and_leave_the_memory_of_the_process(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settled, "_NEW_SHARE", 1)
    monkeypatch.setattr(settled, "_MOST_NEW_ROWS", 3)
    names = [f"t{n}" for n in range(9)]
    store.add([scored(name, 0.5) for name in names], RUN, {})
    store.table()
    store.add([scored(name, 1.0) for name in names[:3]], LATER, {})
    expected = {name: 1.0 if name in names[:3] else 0.5 for name in names}
    for process in (store, open_store(store.paths.snapshot.parent)):
        table = process.table()
        assert scores(table) == expected
        assert table.basis is not None
        assert table.basis.changed == {}


@pytest.mark.usefixtures("settled_rows")
@pytest.mark.parametrize("resolve", [lambda name: name, lambda _name: "one"])
def test_a_first_reading_in_steps_gives_the_same_table_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resolve: Callable[[str], str]
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    store = open_store(tmp_path)
    for number in range(5):
        rows = [scored(f"t{n}", number / 5, llm_id=f"m{n % 2}") for n in range(number, number + 4)]
        store.add(rows, f"2026010{number + 1}T000000-a", {})
    expected = whole(open_store(tmp_path, resolve).table())
    (tmp_path / "index").rename(tmp_path / "before")
    written: list[int] = []

    def write(folder: Path, rows: settled.SettledRows) -> bool:
        written.append(rows.n_rows)
        return settled.write_settled(folder, rows)

    monkeypatch.setattr(index, "write_settled", write)
    monkeypatch.setattr(index, "_MOST_UNSETTLED", 4)
    assert whole(open_store(tmp_path, resolve).table()) == expected
    assert len(written) > 1
    assert whole(open_store(tmp_path, resolve).table()) == expected


@pytest.mark.usefixtures("small_parts")
def test_the_folder_of_the_index_is_listed_as_often_for_many_runs_as_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    listed: list[Path] = []
    glob = Path.glob

    def note(folder: Path, *patterns: str) -> object:
        if "index" in folder.parts:
            listed.append(folder)
        return glob(folder, *patterns)

    monkeypatch.setattr(Path, "glob", note)
    counts = []
    for n_runs in (2, 8):
        store = open_store(tmp_path / str(n_runs))
        for number in range(n_runs):
            rows = [scored(f"{number} {n}", 1.0) for n in range(3)]
            store.add(rows, f"2026010{number + 1}T000000-a", {})
        for _first_and_later_process in range(2):
            listed.clear()
            table = open_store(tmp_path / str(n_runs)).table()
            assert len(table) == 3 * n_runs
            counts.append(len(listed))
    assert counts[:2] == counts[2:]
