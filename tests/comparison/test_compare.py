from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.comparison.compared_tests import Mismatch, ScoreChange
from poor_bench.comparison.result_set import ResultSet, find_unpaired_llms
from poor_bench.models.result import Result
from tests.comparison.builders import failed, make_tests, scored, side


def only(before: ResultSet, after: ResultSet, **options: Any) -> LLMComparison:
    [comparison] = compare_result_sets(before, after, **options)
    return comparison


def outcomes(comparison: LLMComparison) -> dict[str, str]:
    return {test.test_id: test.outcome.value for test in comparison.tests if test.outcome}


def many(scores: dict[str, float], **facts: Any) -> list[Result]:
    return [scored(test_id, score, **facts) for test_id, score in scores.items()]


def test_every_kind_of_outcome_is_told() -> None:
    before = many({"fixed": 0, "broken": 1, "better": 0.2, "worse": 0.4, "same": 1, "zero": 0})
    after = many({"fixed": 1, "broken": 0, "better": 0.3, "worse": 0.1, "same": 1, "zero": 0})
    comparison = only(side(*before), side(*after))
    assert outcomes(comparison) == {
        "fixed": "fixed", "broken": "broken", "better": "better", "worse": "worse",
        "same": "unchanged", "zero": "unchanged",
    }  # fmt: skip
    assert comparison.overall is not None
    assert comparison.overall.count(ScoreChange.UNCHANGED) == 2


def test_pass_mark_decides_what_is_fixed_and_broken() -> None:
    before, after = side(scored(score=0.7)), side(scored(score=0.9))
    assert outcomes(only(before, after)) == {"t": "better"}
    assert outcomes(only(before, after, pass_score=0.8)) == {"t": "fixed"}


def test_trials_of_a_test_count_as_one() -> None:
    before = [scored(score=score, trial=trial) for trial, score in enumerate((1, 1, 0), start=1)]
    comparison = only(side(*before), side(scored(score=1.0)))
    assert comparison.overall is not None
    assert comparison.overall.difference.n == 1
    assert comparison.overall.mean_before == pytest.approx(2 / 3)


def test_clear_difference_is_real_and_a_small_one_is_not() -> None:
    ids = [f"t{number}" for number in range(20)]
    before = side(*many(dict.fromkeys(ids, 0.0)))
    clear = only(before, side(*many(dict.fromkeys(ids, 1.0))))
    assert clear.overall is not None
    assert clear.overall.is_real()
    single = only(before, side(*many({name: float(name == "t0") for name in ids})))
    assert single.overall is not None
    assert not single.overall.is_real()
    assert single.overall.difference.low < 0 < single.overall.difference.high


def test_classes_are_compared_apart() -> None:
    tests = make_tests("a1", "a2", class_id="a") | make_tests("b1", class_id="b")
    before = side(*many({"a1": 1, "a2": 1, "b1": 0}))
    after = side(*many({"a1": 0, "a2": 1, "b1": 1}))
    by_class = {group.class_id: group for group in only(before, after, tests=tests).by_class}
    assert by_class["a"].difference.value == -0.5
    assert by_class["b"].difference.value == 1.0


def test_what_is_not_comparable_is_named_and_left_out() -> None:
    tests = make_tests("same", "prompt", "evaluator", "before", "after", "failed")
    changed = scored("prompt", prompt="x", request_fingerprint="x")
    before = side(*(scored(name) for name in ("same", "prompt", "evaluator", "gone", "before")),
                  scored("failed"))  # fmt: skip
    after = side(
        scored("same"), changed, scored("evaluator", evaluator_fingerprint="x"),
        scored("after"), failed("failed"),
    )  # fmt: skip
    comparison = only(before, after, tests=tests)
    assert comparison.overall is not None
    assert [test.test_id for test in comparison.overall.tests] == ["same"]
    assert comparison.not_comparable() == {
        (Mismatch.PROMPT_CHANGED,): ["prompt"],
        (Mismatch.EVALUATOR_CHANGED,): ["evaluator"],
        (Mismatch.TEST_GONE,): ["gone"],
        (Mismatch.ONLY_BEFORE,): ["before"],
        (Mismatch.FAILED_AFTER,): ["failed"],
        (Mismatch.ONLY_AFTER,): ["after"],
    }


def test_effect_of_a_changed_prompt_is_shown_apart_but_not_that_of_another_evaluator() -> None:
    before = side(scored("p", 0.0), scored("e", 0.0))
    after = side(
        scored("p", 1.0, prompt="x", request_fingerprint="x"),
        scored("e", 1.0, evaluator_fingerprint="x"),
    )
    comparison = only(before, after)
    assert comparison.overall is None
    assert [group.changes for group in comparison.by_change] == [(Mismatch.PROMPT_CHANGED,)]
    assert comparison.by_change[0].difference.value == 1.0


def test_effect_of_another_evaluator_is_shown_on_the_same_answers_only() -> None:
    before = side(scored("t1", response="4"), scored("t2", response="4"), scored("t3", response=""))
    changed = {"score": 0.0, "evaluator_fingerprint": "other"}
    after = side(
        scored("t1", response="4", **changed),
        scored("t2", response="5", **changed),
        scored("t3", response="", **changed),
    )
    [group] = only(before, after).by_change
    assert [test.test_id for test in group.tests] == ["t1"]
    assert group.changes == (Mismatch.EVALUATOR_CHANGED,)


def test_allowed_changes_are_compared_and_counted() -> None:
    before = side(scored("p", 0.0), scored("q", 1.0))
    after = side(scored("p", 1.0, prompt="x", request_fingerprint="x"), scored("q", 1.0))
    comparison = only(before, after, allowed={Mismatch.PROMPT_CHANGED})
    assert comparison.overall is not None
    assert len(comparison.overall.tests) == 2
    assert comparison.despite_changes() == {Mismatch.PROMPT_CHANGED: 1}
    assert comparison.by_change == ()


def test_failures_never_count_as_zero() -> None:
    comparison = only(side(scored(), scored("u")), side(failed(), scored("u")))
    assert comparison.overall is not None
    assert comparison.overall.mean_before == comparison.overall.mean_after == 1.0


def test_each_llm_is_compared_with_itself() -> None:
    before = side(scored(llm_id="a"), scored(llm_id="b"), scored(llm_id="old"))
    after = side(scored(llm_id="b", score=0.0), scored(llm_id="a"))
    pairs = [(item.llm_before, item.llm_after) for item in compare_result_sets(before, after)]
    assert pairs == [("b", "b"), ("a", "a")]


def test_llms_of_one_side_only_are_named() -> None:
    before = side(scored(llm_id="a"), scored(llm_id="old"))
    after = side(scored(llm_id="new"), scored(llm_id="a"))
    assert find_unpaired_llms(before, after) == (["old"], ["new"])


def test_two_llms_are_compared_with_each_other() -> None:
    before, after = side(scored(llm_id="a"), is_llm=True), side(scored(llm_id="b"), is_llm=True)
    comparison = only(before, after)
    assert (comparison.llm_before, comparison.llm_after) == ("a", "b")


def test_sides_without_a_common_llm_are_not_compared() -> None:
    before = side(scored(llm_id="a"), scored(llm_id="b"))
    assert compare_result_sets(before, side(scored(llm_id="c"))) == []


@pytest.mark.parametrize("is_llm", [True, False])
def test_a_new_llm_is_compared_with_no_other_one(is_llm: bool) -> None:
    before, after = side(scored(llm_id="a")), side(scored(llm_id="b", score=0.0), is_llm=is_llm)
    assert compare_result_sets(before, after) == []
    assert find_unpaired_llms(before, after) == (["a"], ["b"])


def test_p_values_hold_for_all_llms_together() -> None:
    ids = [f"t{number}" for number in range(6)]
    single = only(side(*many(dict.fromkeys(ids, 0.0))), side(*many(dict.fromkeys(ids, 1.0))))
    before, after = [], []
    for llm_id in "abcd":
        before += many(dict.fromkeys(ids, 0.0), llm_id=llm_id)
        after += many(dict.fromkeys(ids, 1.0), llm_id=llm_id)
    together = compare_result_sets(side(*before), side(*after))
    assert single.overall is not None
    for comparison in together:
        assert comparison.overall is not None
        assert comparison.overall.p_value == single.overall.p_value
        assert comparison.overall.p_adjusted == pytest.approx(4 * single.overall.p_value)


score_lists = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12)


@given(score_lists)
def test_swapping_sides_swaps_the_sign(scores: list[tuple[float, float]]) -> None:
    before = side(*(scored(str(n), pair[0]) for n, pair in enumerate(scores)))
    after = side(*(scored(str(n), pair[1]) for n, pair in enumerate(scores)))
    there, back = only(before, after).overall, only(after, before).overall
    assert there is not None
    assert back is not None
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.count(ScoreChange.FIXED) == back.count(ScoreChange.BROKEN)
    assert there.difference.low <= there.difference.value <= there.difference.high


def test_pass_mark_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="pass_score"):
        compare_result_sets(side(scored()), side(scored()), pass_score=0.0)


def test_tests_that_were_not_read_are_listed_as_those_that_were() -> None:
    tests = make_tests("t1", "t2", "t3", class_id="math")
    after = side(scored("t1"))
    [whole] = compare_result_sets(
        side(*(scored(name) for name in ("t1", "gone", "t3", "t2"))), after, tests=tests
    )
    spared_side = side(scored("t1"), unread_tests={"a": {"gone", "t3", "t2"}})
    [spared] = compare_result_sets(spared_side, after, tests=tests)
    for class_id in (None, "math", "", "other"):
        assert spared.not_comparable(class_id) == whole.not_comparable(class_id)


def test_model_of_which_no_test_was_read_is_compared() -> None:
    before = side(unread_tests={"a": {"t2"}})
    [comparison] = compare_result_sets(before, side(scored("t1")))
    assert comparison.overall is None
    assert comparison.not_comparable() == {
        (Mismatch.ONLY_AFTER,): ["t1"], (Mismatch.ONLY_BEFORE,): ["t2"],
    }  # fmt: skip
