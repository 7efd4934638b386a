from __future__ import annotations

from dataclasses import replace

from poor_bench.comparison.compare import add_p_values, make_group
from poor_bench.comparison.compared_tests import ComparedTest, Mismatch, ScoreChange
from poor_bench.comparison.messages import (
    describe_mismatches,
    describe_power,
    suggest_options,
)
from tests.comparison.builders import in_columns


def compared(test_id: str, before: float, after: float) -> ComparedTest:
    outcome = ScoreChange.BETTER if after > before else ScoreChange.UNCHANGED
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
    assert describe_mismatches((Mismatch.ONLY_AFTER,)) == "no result before"


def test_every_obstacle_has_a_text() -> None:
    assert all(mismatch.text for mismatch in Mismatch)


def test_where_nothing_is_established_the_tests_that_would_tell_are_counted() -> None:
    tests = [compared(f"t{n}", before=0.0, after=float(n < 3)) for n in range(10)]
    group = make_group(in_columns(tests))
    assert group.needed.tests == 21
    assert describe_power(group).startswith(
        "A difference of 0.300 would probably show on about 21 "
    )


def test_no_difference_and_an_established_one_need_no_more_tests() -> None:
    same = make_group(in_columns([compared("t", before=1.0, after=1.0)]))
    better = make_group(in_columns([compared(f"t{n}", before=0.0, after=1.0) for n in range(10)]))
    [established] = add_p_values([better])
    assert (same.needed.tests, describe_power(same), describe_power(established)) == (None, "", "")


def test_trials_are_recommended_where_the_tests_do_not_differ() -> None:
    noisy = [
        replace(
            compared(f"t{n}", 0.5, 0.5 + (0.3 if n % 2 else -0.2)),
            n_trials=(4, 4),
            squares=(0.4275, 0.4275),  # variance 0.1425 of each trial: all that is seen
        )
        for n in range(8)
    ]
    group = make_group(in_columns(noisy))
    assert group.needed.prefers_trials
    assert "trials of each of these tests (or " in describe_power(group)
    steady = make_group(in_columns([replace(test, squares=(0.1, 0.1)) for test in noisy]))
    assert not steady.needed.prefers_trials


def test_a_plan_among_several_groups_needs_more_tests() -> None:
    alone = make_group(
        in_columns([compared(f"t{n}", before=0.0, after=float(n < 3)) for n in range(10)])
    )
    [among, *_] = add_p_values([alone] * 6)
    assert among.factor == 6
    assert among.needed.tests > alone.needed.tests
    assert among.smallest_difference > alone.smallest_difference


def test_tests_of_a_group_count_as_one_piece_of_evidence() -> None:
    tests = [replace(compared(f"t{n}", 0.0, 1.0), group=f"g{n // 2}") for n in range(10)]
    [group] = add_p_values([make_group(in_columns(tests))])
    assert group.p_value == 1 / 32
