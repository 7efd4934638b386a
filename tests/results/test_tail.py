from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.models.result import Result
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(StorePaths(tmp_path / "results.json"))


def result(test_id: str, score: float = 1.0) -> Result:
    return Result(llm_id="a:b", test_id=test_id, score=score)


def ids(results: list[Result] | None) -> list[str]:
    assert results is not None
    return [item.test_id for item in results]


def test_new_lines_of_a_running_journal_are_read_once(store: ResultStore) -> None:
    journal = store.open_run("20260101T000000-a", {})
    tail = store.tail()
    journal.append(result("one"))
    assert ids(tail.new_results()) == ["one"]
    assert ids(tail.new_results()) == []
    journal.append(result("two"))
    assert ids(tail.new_results()) == ["two"]
    journal.close()


def test_a_journal_that_begins_later_is_read_too(store: ResultStore) -> None:
    tail = store.tail()
    journal = store.open_run("20260101T000000-a", {})
    journal.append(result("one"))
    assert ids(tail.new_results()) == ["one"]
    journal.close()


def test_a_line_that_is_still_being_written_is_read_when_it_is_complete(
    store: ResultStore,
) -> None:
    journal = store.open_run("20260101T000000-a", {})
    tail = store.tail()
    line = b'{"llm_id":"a:b","test_id":"one","score":1.0}\n'
    with journal.path.open("ab") as stream:
        stream.write(line[:20])
    assert ids(tail.new_results()) == []
    with journal.path.open("ab") as stream:
        stream.write(line[20:])
    assert ids(tail.new_results()) == ["one"]
    journal.close()


def test_a_merge_asks_for_reading_everything_again(store: ResultStore) -> None:
    journal = store.open_run("20260101T000000-a", {})
    tail = store.tail()
    journal.append(result("one"))
    journal.close()
    store.merge()
    assert tail.new_results() is None


def test_an_unreadable_row_is_left_out(store: ResultStore) -> None:
    journal = store.open_run("20260101T000000-a", {})
    tail = store.tail()
    with journal.path.open("ab") as stream:
        stream.write(b'{"llm_id":"a:b","test_id":"bad","score":7}\n')
    journal.append(result("good"))
    assert ids(tail.new_results()) == ["good"]
    journal.close()
