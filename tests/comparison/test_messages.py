from __future__ import annotations

from poor_bench.comparison.compare import make_group, with_p_values
from poor_bench.comparison.compared_tests import ComparedTest, Mismatch, classify_change
from poor_bench.comparison.messages import mismatches_text, names_text, power_text, suggest_options


def compared(test_id: str, before: float, after: float) -> ComparedTest:
    outcome = classify_change(before, after, pass_score=1.0)
    return ComparedTest(
        test_id=test_id, class_id="sums", before=before, after=after, outcome=outcome
    )


def test_way_out_names_every_change() -> None:
    assert suggest_options((Mismatch.PROMPT_CHANGED, Mismatch.MODEL_MOVED)) == (
        "--allow prompt --allow model"
    )
    assert suggest_options((Mismatch.EVALUATOR_CHANGED,)) == "--rescore, or --allow evaluator"


def test_missing_results_have_no_way_out() -> None:
    assert suggest_options((Mismatch.ONLY_AFTER,)) == ""
    assert mismatches_text((Mismatch.ONLY_AFTER,)) == "no result before"


def test_every_obstacle_has_a_text() -> None:
    assert all(mismatch.text for mismatch in Mismatch)


def test_short_lists_are_named_in_full() -> None:
    assert names_text(["a", "b"], limit=2) == "a, b"


def test_where_nothing_is_established_the_tests_that_would_tell_are_counted() -> None:
    tests = [compared(f"t{n}", before=0.0, after=float(n < 3)) for n in range(10)]
    group = make_group(tests)
    assert group.needed.tests == 21
    assert power_text(group).startswith("A difference of 0.300 would probably show on about 21 ")


def test_no_difference_and_an_established_one_need_no_more_tests() -> None:
    same = make_group([compared("t", before=1.0, after=1.0)])
    better = make_group([compared(f"t{n}", before=0.0, after=1.0) for n in range(10)])
    [established] = with_p_values([better])
    assert (same.needed.tests, power_text(same), power_text(established)) == (None, "", "")
