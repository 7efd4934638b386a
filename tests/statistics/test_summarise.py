import subprocess
import sys

import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Group, GroupBy, compute_scored_share, count_trials

TESTS = {
    "m1": Test(test_id="m1", class_id="maths", level=1, text="1+1"),
    "m2": Test(test_id="m2", class_id="maths", level=2, text="2*2"),
    "s1": Test(test_id="s1", class_id="sentiment", level=1, text="nice"),
}


def scored(llm_id: str, test_id: str, score: float, **fields) -> Result:
    return Result(llm_id=llm_id, test_id=test_id, score=score, **fields)


def failed(llm_id: str, test_id: str, kind: FailureKind = FailureKind.TIMEOUT) -> Result:
    return Result(llm_id=llm_id, test_id=test_id, failure=Failure(kind=kind, message="gone"))


def test_no_results_give_no_rows() -> None:
    assert summarise([]) == []


def test_one_row_per_llm_in_order_of_appearance() -> None:
    rows = summarise([scored("b", "m1", 1.0), scored("a", "m1", 0.5), scored("b", "m2", 0.0)])
    assert [(row.group.llm_id, row.score.value) for row in rows] == [("b", 0.5), ("a", 0.5)]


def test_failures_enter_no_mean_and_are_counted_by_kind() -> None:
    [row] = summarise([scored("a", "m1", 1.0), failed("a", "m2"), failed("a", "s1")])
    assert row.score.value == 1.0
    assert (row.n_scored, row.n_failed) == (1, 2)
    assert row.scored_share == pytest.approx(1 / 3)
    assert row.failures == {FailureKind.TIMEOUT: 2}


def test_only_failures_leave_the_figures_unknown() -> None:
    [row] = summarise([failed("a", "m1")])
    assert row.score is row.strict_score is row.pass_rate is row.time is row.cost_usd is None
    assert row.scored_share == 0.0


def test_pass_mark_decides_what_passes() -> None:
    results = [scored("a", "m1", 0.8), scored("a", "m2", 1.0)]
    assert summarise(results)[0].n_passed == 1
    assert summarise(results, pass_score=0.8)[0].pass_rate.value == 1.0


@pytest.mark.parametrize("pass_score", [0.0, -1.0, 1.5, float("nan")])
def test_impossible_pass_mark_is_refused(pass_score: float) -> None:
    with pytest.raises(ValueError, match="pass_score"):
        summarise([], pass_score=pass_score)


def test_trials_of_one_test_count_as_one_test() -> None:
    trials = [scored("a", "m1", 1.0, trial=n) for n in range(1, 10)] + [scored("a", "m2", 0.0)]
    [row] = summarise(trials)
    assert (row.n_tests, row.n_scored) == (2, 10)
    assert row.score.value == 0.5
    assert row.score.n == 2


def test_strict_score_takes_the_score_where_the_format_was_kept() -> None:
    [row] = summarise(
        [scored("a", "m1", 1.0, strict_score=0.0), scored("a", "m2", 1.0, found="bare")]
    )
    assert (row.score.value, row.strict_score) == (1.0, 0.5)


def test_format_tax_is_missing_where_no_strict_score_is_known() -> None:
    [row] = summarise([scored("a", "m1", 1.0), scored("a", "m2", 0.0)])
    assert (row.strict_score, row.format_tax, row.n_strict) == (None, None, 0)


def test_format_tax_is_over_the_tests_whose_strict_score_is_known() -> None:
    told = {"found": "fenced", "strict_score": 0.25}
    [row] = summarise(
        [scored("a", "m1", 1.0, **told), scored("a", "m2", 0.0), scored("a", "m3", 0.5, run_id="r")]
    )
    assert (row.strict_score, row.format_tax, row.n_strict) == (0.375, 0.375, 2)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        (GroupBy.LLM, [Group(llm_id="a")]),
        (
            GroupBy.LLM_CLASS,
            [Group(llm_id="a", class_id="maths"), Group(llm_id="a", class_id="sentiment")],
        ),
        (GroupBy.LLM_LEVEL, [Group(llm_id="a", level=1), Group(llm_id="a", level=2)]),
        (
            GroupBy.LLM_CLASS_LEVEL,
            [
                Group(llm_id="a", class_id="maths", level=1),
                Group(llm_id="a", class_id="maths", level=2),
                Group(llm_id="a", class_id="sentiment", level=1),
            ],
        ),
    ],
)
def test_rows_by_class_and_level(by: GroupBy, groups: list[Group]) -> None:
    results = [scored("a", test_id, 1.0) for test_id in TESTS]
    assert [row.group for row in summarise(results, tests=TESTS, by=by)] == groups


def test_tests_that_are_gone_have_a_row_of_their_own() -> None:
    rows = summarise([scored("a", "old", 1.0)], tests=TESTS, by=GroupBy.LLM_CLASS)
    assert [row.group for row in rows] == [Group(llm_id="a", class_id="")]


def test_times_of_failures_are_left_out() -> None:
    times = [scored("a", f"t{n}", 1.0, execution_time_ms=n) for n in range(1, 101)]
    broken = Result(
        llm_id="a",
        test_id="x",
        execution_time_ms=99_999,
        failure=Failure(kind=FailureKind.TIMEOUT, message="gone"),
    )
    [row] = summarise([*times, broken])
    assert (row.time.mean_ms, row.time.median_ms) == (50.5, 50.5)
    assert row.time.p95_ms == pytest.approx(95.05)


def test_speed_of_execution_and_of_generating_are_two_figures() -> None:
    [row] = summarise(
        [
            scored("a", "m1", 1.0, completion_tokens=100, decode_ms=500, execution_time_ms=9000),
            scored("a", "m2", 1.0, completion_tokens=100, execution_time_ms=1500),
            scored("a", "s1", 1.0, execution_time_ms=1500),
        ]
    )
    assert row.tokens_per_s == pytest.approx(200 / 10.5)
    assert row.generation_tokens_per_s == 200
    assert row.completion_tokens == 200


def test_speed_of_generating_is_unknown_where_no_server_tells() -> None:
    [row] = summarise([scored("a", "m1", 1.0, completion_tokens=100, execution_time_ms=1000)])
    assert (row.tokens_per_s, row.generation_tokens_per_s) == (100, None)


def test_cost_counts_failures_too_and_is_unknown_where_no_price_is() -> None:
    paid = Result(
        llm_id="a",
        test_id="m2",
        cost_usd=0.5,
        failure=Failure(kind=FailureKind.EVALUATOR, message="broke"),
    )
    assert summarise([scored("a", "m1", 1.0, cost_usd=0.25), paid])[0].cost_usd == 0.75
    assert summarise([scored("a", "m1", 1.0)])[0].cost_usd is None


def test_what_judging_cost_is_summed_apart() -> None:
    judged = [
        scored("a", "m1", 1.0, cost_usd=0.25, judgement={"cost_usd": 0.5}),
        scored("a", "s1", 1.0, judgement={"cost_usd": None}),
        scored("a", "m2", 0.0, judgement={"cost_usd": 0.25}),
    ]
    row = summarise(judged)[0]
    assert (row.cost_usd, row.judge_cost_usd) == (0.25, 0.75)
    assert row.n_told["judge_cost_usd"] == 2
    assert summarise([scored("a", "m1", 1.0, cost_usd=0.25)])[0].judge_cost_usd is None


def test_marks_are_counted() -> None:
    [row] = summarise([scored("a", "m1", 0.0, marks=("truncated",)), scored("a", "m2", 1.0)])
    assert row.marks == {"truncated": 1}


def test_scored_share_counts_pending_trials_where_they_are_given() -> None:
    assert compute_scored_share(1, 0, 1) == 0.5
    assert compute_scored_share(0, 0) == 0.0
    with pytest.raises(ValueError, match="at least 0"):
        compute_scored_share(-1, 0)


def test_a_summary_needs_neither_numpy_nor_scipy() -> None:
    code = (
        "import sys; import poor_bench.statistics.summarise;"
        "sys.exit(bool({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_counts_without_other_figures_are_those_of_the_summaries() -> None:
    results = [
        scored("a", "m1", 1.0),
        scored("a", "m1", 0.0, trial=2),
        failed("a", "m1"),
        failed("a", "m2"),
        failed("b", "m1"),
        scored("b", "s1", 0.5),
    ]
    rows = summarise(results)
    assert count_trials(results) == (
        sum(row.n_scored for row in rows),
        sum(row.n_failed for row in rows),
        sum(row.n_newer_failed for row in rows),
    )
    assert count_trials(results) == (3, 2, 1)
