"""Coverage of rows: how many tests there are, and how many are pending."""

from __future__ import annotations

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.ranking import rank_llms
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import (
    GroupBy,
    Summary,
    add_coverage,
    count_tests,
    find_scored_tests,
)
from poor_bench.statistics.trials import collect_columns

TESTS = {
    name: Test(test_id=name, class_id=name[0], level=int(name[1]), text=name)
    for name in ("a1", "a2", "b1", "b2")
}


def _rows(by: GroupBy = GroupBy.LLM) -> dict[tuple[str, str | None], Summary]:
    failure = Failure(kind=FailureKind.TIMEOUT, message="too slow")
    trials = collect_columns(
        [
            Result(llm_id="whole", test_id="a1", score=1.0),
            Result(llm_id="whole", test_id="a2", score=0.0),
            Result(llm_id="whole", test_id="b1", score=1.0),
            Result(llm_id="partial", test_id="a1", score=1.0),
            Result(llm_id="partial", test_id="a1", trial=2, score=1.0),
            Result(llm_id="partial", test_id="b1", failure=failure),
            Result(llm_id="removed", test_id="a1", score=1.0),
        ]
    )
    counts = count_tests(TESTS, find_scored_tests(trials))
    rows = add_coverage(summarise(trials, tests=TESTS, by=by), counts, {"whole", "partial"})
    return {(row.group.llm_id, row.group.class_id): row for row in rows}


def test_a_row_knows_the_tests_that_any_model_was_scored_on() -> None:
    assert {llm_id: row.n_all for (llm_id, _), row in _rows().items()} == {
        "whole": 3, "partial": 3, "removed": 3,
    }  # fmt: skip


def test_a_row_of_a_class_knows_the_tests_of_its_class() -> None:
    rows = _rows(GroupBy.LLM_CLASS)
    assert rows["partial", "a"].n_all == 2
    assert rows["partial", "b"].n_all == 1


def test_pending_tests_have_no_result_at_all() -> None:
    rows = _rows()
    assert rows["whole", None].n_pending == 1
    assert rows["partial", None].n_pending == 2, "the failed test is not pending"


def test_nothing_is_pending_for_a_model_that_no_run_can_ask() -> None:
    assert _rows()["removed", None].n_pending is None


def test_rows_and_ranking_agree_on_coverage() -> None:
    trials = collect_columns(
        Result(llm_id=llm_id, test_id=test_id, score=1.0)
        for llm_id, test_id in [("x", "a1"), ("x", "b1"), ("y", "a1")]
    )
    ranking = rank_llms(trials)
    counts = count_tests(TESTS, find_scored_tests(trials))
    for row in add_coverage(summarise(trials), counts, ()):
        assert row.n_all == ranking.coverage[row.group.llm_id].n_all
