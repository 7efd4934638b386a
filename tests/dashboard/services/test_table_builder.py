from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.services.table_builder import TableBuilder
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from tests.waiting import wait_for

TRIALS = st.builds(
    Result,
    llm_id=st.sampled_from(["a", "b"]),
    test_id=st.sampled_from(["one", "two", "three"]),
    trial=st.integers(1, 2),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    cost_usd=st.none() | st.floats(0, 1),
    response=st.text(max_size=4),
)
FAILURE = Failure(kind=FailureKind.TIMEOUT, message="too slow")


@given(st.lists(TRIALS, max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_newest_result_of_every_trial_has_the_row_of_the_first(
    results: list[Result], cuts: list[int]
) -> None:
    builder = TableBuilder()
    for start, end in pairwise(sorted({0, *cuts, len(results)})):
        builder.add_all(results[start:end])
    table, newest = builder.table(), {result.key: result for result in results}
    assert [table.whole(row) for row in range(len(table))] == list(newest.values())
    costs = [table.number("cost_usd", row) for row in range(len(table))]
    assert costs == [result.cost_usd for result in newest.values()]


def test_score_settles_the_failure_before_it_and_not_the_one_after() -> None:
    failed = Result(llm_id="a", test_id="one", failure=FAILURE)
    scored = Result(llm_id="a", test_id="one", score=1.0)
    builder = TableBuilder()
    builder.add_all([failed, scored])
    assert [table_row.failure for table_row in builder.table().light([0])] == [None]
    builder.add_all([failed])
    table = builder.table()
    assert [table.value("failure_kind", row) for row in range(2)] == [None, FailureKind.TIMEOUT]
    assert math.isnan(table.numbers["score"][1])


def test_texts_can_be_read_before_and_after_they_are_written_to_disk() -> None:
    results = [Result(llm_id="a", test_id=f"{n}", score=1.0, response=f"say {n}") for n in range(5)]
    builder = TableBuilder()
    builder.add_all(results[:3])
    early = builder.table()
    assert early.whole(2) == results[2]
    builder.add_all(results[3:])
    late = builder.table()
    wait_for(lambda: not late.write_some())
    assert [late.whole(row) for row in range(5)] == results
    assert late.holding("SAY 4").tolist() == [False] * 4 + [True]
    assert early.holding("say 1").tolist() == [False, True, False]


def test_texts_that_no_file_can_hold_are_kept_escaped() -> None:
    builder = TableBuilder()
    builder.add_all([Result(llm_id="a", test_id="t", score=0.0, response="half \ud800 a pair")])
    assert builder.table().whole(0).response == "half \\ud800 a pair"
