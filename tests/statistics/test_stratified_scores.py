import pytest

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.scores import compute_stratified_scores

TESTS = {
    test_id: Test(test_id=test_id, class_id=class_id, level=1, text="1")
    for test_id, class_id in (("m1", "maths"), ("m2", "maths"), ("m3", "maths"), ("c1", "code"))
}


def scored(test_id: str, score: float, trial: int = 1) -> Result:
    return Result(llm_id="a", test_id=test_id, score=score, trial=trial)


def test_classes_weigh_their_tests_or_all_the_same() -> None:
    results = [scored("m1", 1.0), scored("m2", 1.0), scored("m3", 1.0), scored("c1", 0.0)]
    by_tests, alike = (
        compute_stratified_scores(results, TESTS, classes_weigh_alike=alike)["a"].value
        for alike in (False, True)
    )
    assert (by_tests, alike) == pytest.approx((0.75, 0.5))


def test_trials_of_a_test_count_as_one() -> None:
    trials = [scored("c1", 1.0, trial) for trial in (1, 2, 3)]
    estimate = compute_stratified_scores([*trials, scored("m1", 0.0)], TESTS)["a"]
    assert (estimate.value, estimate.n) == (0.5, 2)


def test_unknown_tests_are_a_class_of_their_own() -> None:
    results = [scored("gone", 1.0), scored("m1", 0.0), scored("m2", 0.0)]
    assert compute_stratified_scores(results, TESTS, classes_weigh_alike=True)["a"].value == 0.5
