from __future__ import annotations

from typing import Any

import pytest

from poor_bench.gates.check import Evidence, check_gates
from poor_bench.gates.gate import Gate, GateKind, GateOutcome, has_failed, make_strict
from tests.comparison.builders import failed, make_tests, scored
from tests.gates.builders import LLM_A, LLM_B, evidence, scores


def check(kind: str, limit: float, known: Evidence, **fields: Any) -> list[GateOutcome]:
    return check_gates([Gate(kind=GateKind(kind), limit=limit, **fields)], known)


def status(kind: str, limit: float, known: Evidence, **fields: Any) -> str:
    return check(kind, limit, known, **fields)[0].status.value


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0] * 10, "passed"), ([1.0] * 8 + [0.0] * 2, "passed"), ([1.0] * 7 + [0.0] * 3, "warning"),
     ([0.0] * 10, "failed")],
)  # fmt: skip
def test_score_fails_only_where_its_interval_is_below_the_limit(
    values: list[float], expected: str
) -> None:
    assert status("min_score", 0.8, evidence(scores(values))) == expected


def test_strict_fails_on_every_warning() -> None:
    known = evidence(scores([1.0] * 7 + [0.0] * 3))
    gate = Gate(kind=GateKind.MIN_SCORE, limit=0.8)
    outcomes = check_gates([gate], known)
    assert not has_failed(outcomes)
    assert has_failed(make_strict(outcomes))


def test_pass_rate_follows_the_pass_mark() -> None:
    values = [0.9] * 10
    assert status("min_pass_rate", 0.8, evidence(scores(values))) == "failed"
    assert status("min_pass_rate", 0.8, evidence(scores(values), pass_score=0.9)) == "passed"


def test_failures_to_run_never_count_as_zero() -> None:
    results = [*scores([1.0, 1.0]), failed("t2"), failed("t3")]
    score, share = check("min_score", 1.0, evidence(results))
    assert (score.status, score.observed) == ("passed", 1.0)
    assert (share.gate.kind, share.status) == ("min_scored_share", "warning")
    assert share.reason == "2 scored, 2 failed to run, 0 pending"


def test_scored_share_that_is_asked_for_fails() -> None:
    results = [*scores([1.0, 1.0]), failed("t2")]
    assert status("min_scored_share", 0.9, evidence(results)) == "failed"
    assert status("min_scored_share", 0.6, evidence(results)) == "passed"
    assert status("min_scored_share", 0.6, evidence(results, n_tests=4)) == "failed"


@pytest.mark.parametrize(("slow", "expected"), [(0, "passed"), (3, "warning"), (10, "failed")])
def test_p95_fails_only_where_too_many_trials_are_slow(slow: int, expected: str) -> None:
    times = [3000.0] * slow + [100.0] * (40 - slow)
    results = [scored(f"t{number}", execution_time_ms=time) for number, time in enumerate(times)]
    assert status("max_p95_ms", 2000, evidence(results)) == expected


def test_trials_of_one_slow_test_do_not_fail_the_p95_gate() -> None:
    def run(n_slow_tests: int, n_trials: int) -> str:
        times = [3000.0] * n_slow_tests + [100.0] * (20 - n_slow_tests)
        results = [
            scored(f"t{number}", trial=trial, execution_time_ms=time)
            for number, time in enumerate(times)
            for trial in range(n_trials)
        ]
        return status("max_p95_ms", 2000, evidence(results))

    assert run(2, 10) == "warning"
    assert run(8, 10) == "failed"


def test_cost_is_summed_with_failed_trials_and_warns_where_some_is_unknown() -> None:
    known = evidence(scores([1.0, 1.0], cost_usd=0.01))
    assert status("max_cost_usd", 0.02, known) == "passed"
    assert status("max_cost_usd", 0.019, known) == "failed"
    partly = evidence([*scores([1.0], cost_usd=0.01), scored("t1")])
    assert status("max_cost_usd", 0.02, partly) == "warning"


@pytest.mark.parametrize("kind", ["min_score", "max_p95_ms", "max_cost_usd"])
@pytest.mark.parametrize("results", [[], [failed("t0")]], ids=["no result", "only failures"])
def test_nothing_to_check_fails(kind: str, results: list[Any]) -> None:
    outcomes = check(kind, 0.0, evidence(results, n_tests=1))
    assert has_failed(outcomes)
    assert "nothing to check" in outcomes[0].reason


def test_llm_that_was_never_run_warns_once_and_fails_where_it_is_named() -> None:
    results = {"a": scores([1.0])}
    known = evidence([], n_tests=1, llms=[LLM_A, LLM_B], results=results)
    never = [item for item in check("min_score", 0.5, known) if item.llm_id == "b"]
    assert [(item.gate.kind, item.status) for item in never] == [("min_scored_share", "warning")]
    named = evidence([], n_tests=1, llms=[LLM_A, LLM_B], results=results, named=frozenset("b"))
    assert has_failed(check("min_score", 0.5, named))
    assert has_failed(check("min_score", 0.5, known, llm_pattern="b"))


def test_gate_names_llms_by_label_and_classes_by_glob() -> None:
    tests = make_tests("t0", class_id="maths_a") | make_tests("t1", class_id="other")
    known = evidence(scores([0.0, 1.0]), tests=tests)
    outcomes = check("min_score", 0.0, known, llm_pattern="An*", class_pattern="maths*")
    assert [(item.class_id, item.observed) for item in outcomes] == [("maths_a", 0.0)]
    assert has_failed(check("min_score", 0.0, known, llm_pattern="nobody"))


def test_stale_results_warn_unless_a_gate_asks_for_more() -> None:
    known = evidence(scores([1.0]), n_stale={"a": 1})
    assert [item.status for item in check("min_score", 0.5, known)] == ["passed", "warning"]
    assert status("up_to_date", 0.0, known) == "failed"
    assert status("up_to_date", 0.0, evidence(scores([1.0]))) == "passed"


def test_results_that_do_not_tell_what_they_are_of_are_not_called_up_to_date() -> None:
    old = evidence(scores([1.0], evaluator_fingerprint=""))
    assert status("up_to_date", 0.0, old) == "warning"
    assert [item.status for item in check("min_score", 0.5, old)] == ["passed"]


def test_no_gate_is_no_pass() -> None:
    with pytest.raises(ValueError, match="no gate"):
        check_gates([], evidence(scores([1.0])))
