from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.dashboard.services.result_cache import ResultCache
from poor_bench.dashboard.services.result_table import ResultTable, TrialKey
from poor_bench.errors import StoreError
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore

RUN = "20260101T000000-a"


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(StorePaths(tmp_path / "results.json"))


def scored(test_id: str, score: float, llm_id: str = "a:b", **fields: object) -> Result:
    return Result(llm_id=llm_id, test_id=test_id, score=score, **fields)  # type: ignore[arg-type]


def failed(test_id: str) -> Result:
    failure = Failure(kind=FailureKind.TIMEOUT, message="too slow")
    return Result(llm_id="a:b", test_id=test_id, failure=failure)


def scores(table: ResultTable) -> dict[str, float | None]:
    return {table.value("test_id", row): table.number("score", row) for row in range(len(table))}


def test_an_empty_store_gives_an_empty_table(store: ResultStore) -> None:
    table = ResultCache(lambda: store).table()
    assert len(table) == 0
    assert table.llm_ids == ()


def test_the_same_files_give_the_same_table(store: ResultStore) -> None:
    store.add([scored("one", 1.0)], RUN, {})
    cache = ResultCache(lambda: store)
    assert cache.table() is cache.table()


def test_texts_wait_in_memory_until_there_is_time_to_write_them(store: ResultStore) -> None:
    store.add([scored("one", 1.0, response="here")], RUN, {})
    cache = ResultCache(lambda: store)
    assert not cache.write_some()
    table = cache.table()
    assert [cache.write_some() for _ in range(3)] == [True, True, False]
    assert table.whole(0).response == "here"


def test_results_of_a_running_run_appear_without_reading_all_again(store: ResultStore) -> None:
    store.add([scored("old", 0.5)], RUN, {})
    cache = ResultCache(lambda: store)
    before = cache.table()
    journal = store.open_run("20260102T000000-b", {})
    journal.append(scored("new", 1.0))
    after = cache.table()
    assert scores(after) == {"old": 0.5, "new": 1.0}
    assert scores(before) == {"old": 0.5}
    assert after.spool is before.spool
    journal.close()


def test_a_newer_score_takes_the_place_of_the_older_one(store: ResultStore) -> None:
    store.add([scored("one", 0.0, response="old"), scored("two", 1.0)], RUN, {})
    cache = ResultCache(lambda: store)
    cache.table()
    journal = store.open_run("20260102T000000-b", {})
    journal.append(scored("one", 1.0, response="new"))
    table = cache.table()
    assert scores(table) == {"one": 1.0, "two": 1.0}
    row = table.find("a:b", TrialKey("one", 1, is_failure=False))
    assert row is not None
    assert table.whole(row).response == "new"
    journal.close()


def test_a_score_settles_the_failure_of_its_trial(store: ResultStore) -> None:
    store.add([failed("one")], RUN, {})
    cache = ResultCache(lambda: store)
    assert scores(cache.table()) == {"one": None}
    journal = store.open_run("20260102T000000-b", {})
    journal.append(scored("one", 1.0))
    table = cache.table()
    assert [table.key(row) for row in range(len(table))] == [TrialKey("one", 1, is_failure=False)]
    journal.close()


def test_following_a_run_ends_in_the_same_table_as_reading_it_as_a_whole(
    store: ResultStore,
) -> None:
    store.add([scored("one", 0.0), failed("two")], RUN, {})
    cache = ResultCache(lambda: store)
    cache.table()
    journal = store.open_run("20260102T000000-b", {})
    for result in (scored("two", 1.0), failed("one"), scored("three", 0.5)):
        journal.append(result)
        cache.table()
    followed = cache.table()
    journal.close()
    store.merge()
    read = ResultCache(lambda: store).table()
    keys = [sorted(table.key(row) for row in range(len(table))) for table in (followed, read)]
    assert keys[0] == keys[1]


def test_damaged_files_are_told_until_they_are_mended(store: ResultStore) -> None:
    store.add([scored("one", 1.0)], RUN, {})
    cache = ResultCache(lambda: store)
    assert len(cache.table()) == 1
    whole = store.paths.snapshot.read_text()
    store.paths.snapshot.write_text(f"{whole} rubbish")
    for _ in range(3):
        with pytest.raises(StoreError, match="damaged"):
            cache.table()
    store.paths.snapshot.write_text(whole)
    assert scores(cache.table()) == {"one": 1.0}


def test_damaged_files_are_read_once_for_all_who_ask(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.paths.snapshot.write_text("[]")
    cache = ResultCache(lambda: store)
    with pytest.raises(StoreError):
        cache.table()
    monkeypatch.setattr(ResultStore, "results", lambda _store: pytest.fail("read again"))
    with pytest.raises(StoreError, match="damaged"):
        cache.table()


def test_results_after_a_damage_join_those_before_it(store: ResultStore) -> None:
    store.add([scored("one", 1.0)], RUN, {})
    cache = ResultCache(lambda: store)
    cache.table()
    whole = store.paths.snapshot.read_text()
    store.paths.snapshot.write_text("")
    with pytest.raises(StoreError):
        cache.table()
    store.paths.snapshot.write_text(whole)
    store.add([scored("two", 0.0)], "20260102T000000-a", {})
    assert scores(cache.table()) == {"one": 1.0, "two": 0.0}


def test_only_the_llm_with_new_results_has_a_new_version(store: ResultStore) -> None:
    store.add([scored("one", 1.0), scored("one", 1.0, llm_id="c:d")], RUN, {})
    cache = ResultCache(lambda: store)
    before = cache.table().llm_versions
    journal = store.open_run("20260102T000000-b", {})
    journal.append(scored("two", 1.0))
    after = cache.table().llm_versions
    assert after["c:d"] == before["c:d"]
    assert after["a:b"] != before["a:b"]
    journal.close()


def test_light_results_hold_what_statistics_need(store: ResultStore) -> None:
    result = scored(
        "one",
        0.25,
        strict_score=0.0,
        execution_time_ms=12.5,
        completion_tokens=7,
        marks=("truncated",),
        think=True,
        trial=3,
        response="long text",
    )
    store.add([result], RUN, {})
    table = ResultCache(lambda: store).table()
    [light] = table.light(range(len(table)))
    assert light.response == ""
    assert (light.score, light.strict_score, light.execution_time_ms) == (0.25, 0.0, 12.5)
    assert (light.completion_tokens, light.prompt_tokens) == (7, None)
    assert (light.marks, light.think, light.trial) == (("truncated",), True, 3)
    assert table.whole(0) == result
