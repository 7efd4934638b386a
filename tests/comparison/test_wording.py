from __future__ import annotations

from poor_bench.comparison.compared_group import group_of, with_p_values
from poor_bench.comparison.compared_test import ComparedTest, outcome_of
from poor_bench.comparison.obstacle import Obstacle
from poor_bench.comparison.wording import names_text, obstacles_text, power_text, way_out


def compared(test_id: str, before: float, after: float) -> ComparedTest:
    outcome = outcome_of(before, after, pass_score=1.0)
    return ComparedTest(
        test_id=test_id, class_id="sums", before=before, after=after, outcome=outcome
    )


def test_way_out_names_every_change() -> None:
    assert way_out((Obstacle.PROMPT_CHANGED, Obstacle.MODEL_MOVED)) == (
        "--allow prompt --allow model"
    )
    assert way_out((Obstacle.EVALUATOR_CHANGED,)) == "--rescore, or --allow evaluator"


def test_missing_results_have_no_way_out() -> None:
    assert way_out((Obstacle.ONLY_AFTER,)) == ""
    assert obstacles_text((Obstacle.ONLY_AFTER,)) == "no result before"


def test_every_obstacle_has_a_text() -> None:
    assert all(obstacle.text for obstacle in Obstacle)


def test_short_lists_are_named_in_full() -> None:
    assert names_text(["a", "b"], limit=2) == "a, b"


def test_where_nothing_is_established_the_tests_that_would_tell_are_counted() -> None:
    tests = [compared(f"t{n}", before=0.0, after=float(n < 3)) for n in range(10)]
    group = group_of(tests)
    assert group.needed_tests == 21
    assert power_text(group).startswith("A difference of 0.300 would probably show on about 21 ")


def test_no_difference_and_an_established_one_need_no_more_tests() -> None:
    same = group_of([compared("t", before=1.0, after=1.0)])
    better = group_of([compared(f"t{n}", before=0.0, after=1.0) for n in range(10)])
    [established] = with_p_values([better])
    assert (same.needed_tests, power_text(same), power_text(established)) == (None, "", "")
