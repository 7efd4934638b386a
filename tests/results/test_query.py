from __future__ import annotations

import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.results.paths import StorePaths
from poor_bench.results.query import Outcome, Range, ResultQuery, SortKey, find_rows
from poor_bench.results.store import ResultStore
from poor_bench.results.table import ResultTable

TESTS = {
    test.test_id: test
    for test in (
        Test(test_id="b_sum", class_id="sums", level=1, text=""),
        Test(test_id="a_sum", class_id="sums", level=2, text=""),
        Test(test_id="c_mood", class_id="moods", level=1, text=""),
    )
}
FAILURE = Failure(kind=FailureKind.TIMEOUT, message="no Answer in time")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ResultTable:
    results = [
        Result(llm_id="x:y", test_id="b_sum", score=1.0, execution_time_ms=20, think=True),
        Result(
            llm_id="x:y",
            test_id="a_sum",
            score=0.0,
            execution_time_ms=10,
            details="Off by 1",
            cause="wrong_answer",
        ),
        Result(llm_id="x:y", test_id="c_mood", score=0.5, response="Ärger"),
        Result(llm_id="x:y", test_id="gone", score=0.5),
        Result(llm_id="x:y", test_id="c_mood", trial=2, failure=FAILURE),
        Result(llm_id="other:z", test_id="a_sum", score=1.0),
    ]
    store = ResultStore(StorePaths(tmp_path_factory.mktemp("query") / "results.json"))
    store.add(results, "20260101T000000-a", {})
    return store.table()


def found(table: ResultTable, **fields: object) -> list[str]:
    query = ResultQuery(llm_id="x:y", **fields)  # type: ignore[arg-type]
    return [table.value("test_id", int(row)) for row in find_rows(table, TESTS, query)]


def test_without_filters_all_results_of_the_llm_are_found(table: ResultTable) -> None:
    assert found(table) == ["b_sum", "a_sum", "c_mood", "c_mood", "gone"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"classes": frozenset({"moods"})}, ["c_mood", "c_mood"]),
        ({"levels": frozenset({2})}, ["a_sum"]),
        ({"levels": frozenset({1}), "classes": frozenset({"sums"})}, ["b_sum"]),
        ({"thinks": frozenset({"on"})}, ["b_sum"]),
        ({"outcomes": frozenset({Outcome.PASSED})}, ["b_sum"]),
        ({"outcomes": frozenset({Outcome.NOT_PASSED})}, ["a_sum", "c_mood", "gone"]),
        ({"outcomes": frozenset({Outcome.FAILED_TO_RUN})}, ["c_mood"]),
        ({"text": "off BY"}, ["a_sum"]),
        ({"text": "ärger"}, ["c_mood"]),
        ({"text": "answer in time"}, ["c_mood"]),
        ({"text": "nowhere"}, []),
        ({"classes": frozenset({"no such class"})}, []),
        ({"causes": frozenset({"wrong_answer"})}, ["a_sum"]),
        ({"scores": Range(high=0.5)}, ["a_sum", "c_mood", "gone"]),
        ({"scores": Range(0.5, 0.5)}, ["c_mood", "gone"]),
        ({"seconds": Range(low=0.01)}, ["b_sum", "a_sum"]),
        ({"seconds": Range(0.011, 0.02)}, ["b_sum"]),
    ],
)
def test_filters_keep_what_fits(
    table: ResultTable, fields: dict[str, object], expected: list[str]
) -> None:
    assert found(table, **fields) == expected


def test_an_unknown_llm_has_no_results(table: ResultTable) -> None:
    assert list(find_rows(table, TESTS, ResultQuery(llm_id="nobody"))) == []


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (SortKey.FILE, ["b_sum", "a_sum", "c_mood", "c_mood", "gone"]),
        (SortKey.TEST, ["a_sum", "b_sum", "c_mood", "c_mood", "gone"]),
        (SortKey.SCORE, ["a_sum", "c_mood", "gone", "b_sum", "c_mood"]),
        (SortKey.TIME, ["a_sum", "b_sum", "c_mood", "gone", "c_mood"]),
        (SortKey.LEVEL, ["gone", "b_sum", "c_mood", "c_mood", "a_sum"]),
        (SortKey.CLASS, ["gone", "c_mood", "c_mood", "b_sum", "a_sum"]),
    ],
)
def test_sorting_is_stable_and_puts_the_unknown_last(
    table: ResultTable, key: SortKey, expected: list[str]
) -> None:
    assert found(table, sort=key) == expected


def test_descending_keeps_the_unknown_last(table: ResultTable) -> None:
    ordered = found(table, sort=SortKey.SCORE, descending=True)
    assert ordered == ["b_sum", "c_mood", "gone", "a_sum", "c_mood"]


def test_only_stale_scores_are_found(table: ResultTable) -> None:
    stale = table.columns["place"][[1, 2]]
    rows = find_rows(table, TESTS, ResultQuery(llm_id="x:y"), stale_places=stale)
    assert [int(row) for row in rows] == [1, 2]


def test_a_query_knows_if_it_filters() -> None:
    assert not ResultQuery(llm_id="x:y", sort=SortKey.SCORE, descending=True).is_filtered
    assert ResultQuery(llm_id="x:y", scores=Range(high=1.0)).is_filtered


def test_only_concerned_trials_are_found(table: ResultTable) -> None:
    rows = find_rows(table, TESTS, ResultQuery(llm_id="x:y"), {("c_mood", 2)})
    assert [table.key(int(row)).trial for row in rows] == [2]
