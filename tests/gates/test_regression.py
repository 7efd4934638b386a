from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.gates.check import check_gates
from poor_bench.gates.gate import Gate, GateKind, Observation
from poor_bench.gates.regression import check_regression
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.non_inferiority import GateVerdict
from tests.comparison.builders import make_tests, scored, side
from tests.gates.builders import evidence, scores


def compared(
    before: Sequence[float], after: Sequence[float], tests: dict[str, Test] | None = None
) -> LLMComparison:
    [found] = compare_result_sets(side(*scores(before)), side(*scores(after)), tests=tests)
    return found


def trials(values: Sequence[float], n: int, **facts: Any) -> list[Result]:
    return [
        result for number in range(1, n + 1) for result in scores(values, trial=number, **facts)
    ]


def check_sets(before: list[Result], after: list[Result], tolerance: float = 0.05) -> Observation:
    [found] = compare_result_sets(side(*before), side(*after))
    return check_regression(found, None, tolerance)


def check(found: LLMComparison | None, class_id: str | None = None) -> Observation:
    return check_regression(found, class_id, 0.05)


def test_a_drop_beyond_the_tolerance_fails_with_its_figures() -> None:
    finding = check(compared([1.0] * 20, [0.0] * 20))
    assert (finding.status, finding.verdict) == ("failed", GateVerdict.FAILED)
    assert "score fell by more than 0.05: change -1.000" in finding.reason
    assert "broken: t0, t1" in finding.reason
    assert finding.high is not None
    assert finding.high < -0.05


def test_a_drop_that_may_be_chance_is_not_enough_evidence() -> None:
    finding = check(compared([1.0] * 10, [1.0] * 9 + [0.0]))
    assert (finding.status, finding.verdict) == ("warning", GateVerdict.UNDECIDED)
    assert finding.reason.startswith("not enough evidence: change -0.100")
    assert "broken: t9" in finding.reason
    assert "per test" in finding.reason


def test_an_unchanged_model_passes_with_enough_tests_or_trials() -> None:
    assert check(compared([1.0] * 60, [1.0] * 60)).verdict is GateVerdict.PASSED
    assert check(compared([1.0] * 59, [1.0] * 59)).verdict is GateVerdict.UNDECIDED
    assert check_sets(trials([1.0] * 30, 2), trials([1.0] * 30, 2)).verdict is GateVerdict.PASSED


def test_a_single_broken_test_does_not_keep_many_from_passing() -> None:
    finding = check(compared([1.0] * 200, [1.0] * 199 + [0.0]))
    assert (finding.status, finding.verdict) == ("passed", GateVerdict.PASSED)
    assert "broken: t199" in finding.reason


def test_the_tolerance_moves_the_verdict() -> None:
    before, after = trials([1.0] * 40, 3), trials([1.0] * 36 + [0.0] * 4, 3)
    verdicts = [check_sets(before, after, limit).verdict for limit in (0.01, 0.1, 0.3)]
    assert verdicts == [GateVerdict.FAILED, GateVerdict.UNDECIDED, GateVerdict.PASSED]


def test_the_same_stored_results_pass_without_new_evidence() -> None:
    stored = trials([1.0, 0.0], 1, timestamp="2026-11-23T00:00:00Z", response="x")
    finding = check_sets(stored, stored)
    assert (finding.status, finding.low, finding.high) == ("passed", 0.0, 0.0)
    assert "the same results" in finding.reason


def test_only_trials_that_the_baseline_does_not_have_count() -> None:
    stored = trials([1.0] * 10, 3, timestamp="2026-11-22T00:00:00Z")
    new = [scored(f"t{n}", 0.0, trial=4, timestamp="2026-11-23T00:00:00Z") for n in range(10)]
    finding = check_sets(stored, [*stored, *new])
    assert finding.observed == -1.0
    assert "trials 3 before, 1 after" in finding.reason


@pytest.mark.parametrize(
    ("answers", "expected"), [(["a", "a"], GateVerdict.PASSED), (["a", "b"], GateVerdict.UNDECIDED)]
)
def test_answers_that_repeat_vouch_for_a_baseline_with_one_trial(
    answers: list[str], expected: GateVerdict
) -> None:
    before = trials([1.0] * 40, 1, response="a")
    after = [
        result
        for number, answer in enumerate(answers, start=1)
        for result in scores([1.0] * 40, trial=number, response=answer)
    ]
    assert check_sets(before, after).verdict is expected


def test_a_drop_in_one_class_fails_though_the_whole_rose() -> None:
    tests = make_tests(*(f"t{n}" for n in range(20)), class_id="maths")
    tests |= make_tests(*(f"t{n}" for n in range(20, 60)), class_id="code")
    found = compared([1.0] * 20 + [0.0] * 40, [0.0] * 20 + [1.0] * 40, tests)
    assert found.overall is not None
    assert found.overall.difference.value > 0
    finding = check(found)
    assert finding.status == "failed"
    assert "score fell in maths" in finding.reason
    assert "95 % CI" in finding.reason
    assert check(found, "code").status == "passed"


def test_a_drop_that_is_shown_but_not_beyond_the_tolerance_says_so() -> None:
    before, after = trials([1.0] * 100, 2), trials([1.0] * 94 + [0.0] * 6, 2)
    finding = check_sets(before, after)
    assert finding.verdict is GateVerdict.UNDECIDED
    assert "a drop is shown, but not that it is greater" in finding.reason


def test_a_gate_without_enough_trials_in_the_baseline_says_so() -> None:
    before, after = [1.0, 0.0] * 20, [0.0, 1.0] * 20
    assert "the baseline has too few trials" in check(compared(before, after)).reason


def test_tests_that_are_not_comparable_warn_by_reason() -> None:
    before = side(scored("t0"), scored("t1"))
    after = side(scored("t0"), scored("t1", evaluator_fingerprint="x"))
    [found] = compare_result_sets(before, after)
    finding = check(found)
    assert finding.status == "warning"
    assert "evaluator changed: 1 test not compared" in finding.reason


def test_nothing_comparable_fails() -> None:
    [found] = compare_result_sets(side(scored("t0")), side(scored("t1")))
    finding = check(found)
    assert finding.status == "failed"
    assert "nothing to check" in finding.reason


def test_llm_that_the_baseline_lacks_fails_only_where_it_is_the_only_one() -> None:
    gate = Gate(kind=GateKind.NO_REGRESSION, limit=0.05, baseline="base.json")
    finding = check(None)
    assert (finding.status, finding.reason) == ("warning", "new: the baseline has no results of it")
    [outcome] = check_gates([gate], evidence(scores([1.0])))
    assert outcome.status == "failed"
