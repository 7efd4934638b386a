from __future__ import annotations

from collections.abc import Sequence

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.gates.check import check_gates, check_regression
from poor_bench.gates.gate import Gate, GateKind
from poor_bench.models.test import Test
from tests.comparison.builders import make_tests, scored, side
from tests.gates.builders import evidence, scores


def compared(
    before: Sequence[float], after: Sequence[float], tests: dict[str, Test] | None = None
) -> LLMComparison:
    [found] = compare_result_sets(side(*scores(before)), side(*scores(after)), tests=tests)
    return found


def test_established_drop_fails_with_its_figures() -> None:
    finding = check_regression(compared([1.0] * 10, [0.0] * 10), None)
    assert finding.status == "failed"
    assert "score fell by -1.000" in finding.reason
    assert "broken: t0, t1" in finding.reason


def test_drop_that_may_be_chance_warns() -> None:
    finding = check_regression(compared([1.0] * 10, [1.0] * 9 + [0.0]), None)
    assert finding.status == "warning"
    assert "not significant; broken: t9" in finding.reason


def test_broken_test_warns_even_where_the_mean_rose() -> None:
    finding = check_regression(compared([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]), None)
    assert finding.status == "warning"


def test_equal_or_better_scores_pass() -> None:
    assert check_regression(compared([0.0, 1.0], [1.0, 1.0]), None).status == "passed"


def test_established_drop_in_one_class_fails_though_the_whole_rose() -> None:
    tests = make_tests(*(f"t{n}" for n in range(10)), class_id="maths")
    tests |= make_tests(*(f"t{n}" for n in range(10, 40)), class_id="code")
    found = compared([1.0] * 10 + [0.0] * 30, [0.0] * 10 + [1.0] * 30, tests)
    assert found.overall is not None
    assert found.overall.difference.value > 0
    finding = check_regression(found, None)
    assert finding.status == "failed"
    assert "score fell in maths" in finding.reason
    assert check_regression(found, "code").status == "passed"


def test_tests_that_are_not_comparable_warn_by_reason() -> None:
    before = side(scored("t0"), scored("t1"))
    after = side(scored("t0"), scored("t1", evaluator_fingerprint="x"))
    [found] = compare_result_sets(before, after)
    finding = check_regression(found, None)
    assert finding.status == "warning"
    assert "evaluator changed: 1 test not compared" in finding.reason


def test_nothing_comparable_fails() -> None:
    [found] = compare_result_sets(side(scored("t0")), side(scored("t1")))
    finding = check_regression(found, None)
    assert finding.status == "failed"
    assert "nothing to check" in finding.reason


def test_llm_that_the_baseline_lacks_fails_only_where_it_is_the_only_one() -> None:
    gate = Gate(kind=GateKind.NO_REGRESSION, baseline="base.json")
    finding = check_regression(None, None)
    assert (finding.status, finding.reason) == ("warning", "new: the baseline has no results of it")
    [outcome] = check_gates([gate], evidence(scores([1.0])))
    assert outcome.status == "failed"
