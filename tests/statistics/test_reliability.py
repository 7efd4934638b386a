import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.statistics.repeats import estimate_reliability, find_usual_trials


def trials(llm_id: str, test_id: str, scores: list[float]) -> list[Result]:
    return [
        Result(llm_id=llm_id, test_id=test_id, score=score, trial=number)
        for number, score in enumerate(scores, start=1)
    ]


def test_figures_are_means_over_tests() -> None:
    [row] = estimate_reliability(trials("a", "t1", [1, 1, 1, 1]) + trials("a", "t2", [1, 0, 0, 0]))
    assert row.pass_at_k.value == pytest.approx((1 + 0.5) / 2)
    assert row.pass_hat_k.value == pytest.approx((1 + 0) / 2)
    assert row.flip_rate.value == pytest.approx((0 + 0.5) / 2)
    assert row.flip_rate.n == 2


def test_tests_and_llms_without_enough_scored_trials_are_left_out() -> None:
    gone = Failure(kind=FailureKind.TIMEOUT, message="gone")
    failed = Result(llm_id="a", test_id="t2", trial=2, failure=gone)
    results = [*trials("a", "t1", [1, 0]), *trials("a", "t2", [1]), failed, *trials("b", "t1", [1])]
    [row] = estimate_reliability(results)
    assert (row.llm_id, row.pass_at_k.n) == ("a", 1)


def test_pass_mark_decides_what_passes() -> None:
    assert (
        estimate_reliability(trials("a", "t", [0.6, 0.6]), pass_score=0.5)[0].pass_hat_k.value
        == 1.0
    )


def test_fewer_than_two_trials_are_no_repeat() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        estimate_reliability([], k=1)


def test_usual_number_of_trials_is_that_of_most_repeated_tests() -> None:
    results = trials("a", "t1", [1]) + trials("a", "t2", [1, 0]) + trials("a", "t3", [1, 0, 1])
    assert find_usual_trials(results + trials("b", "t2", [0, 0])) == 2
    assert find_usual_trials(results) == 3
    assert find_usual_trials(trials("a", "t1", [1])) == 0
