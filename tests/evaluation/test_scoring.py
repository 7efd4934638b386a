from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.models import CaseStatus, EvalCase, EvalTrialResult
from poor_bench.evaluation.scoring import score_case, score_suite, score_trial
from tests.evaluation.builders import make_case, make_trial, not_run

PRICED = {"input_token_cost_per_million_usd": 2.0, "output_token_cost_per_million_usd": 10.0}

trials = st.builds(
    make_trial,
    success=st.booleans(),
    mode=st.sampled_from(["playbook", "agent"]),
    duration_ms=st.floats(0, 1e6),
    actions=st.integers(0, 99),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    summary=st.sampled_from(["", "a teapot", "a kettle"]),
) | st.builds(make_trial, success=st.booleans(), mode=st.just("handoff"), handed_off=st.just(True))
trial_lists = st.lists(trials | st.builds(not_run), min_size=1, max_size=12)
expectations = st.fixed_dictionaries(
    {},
    optional={
        "must_succeed": st.booleans(),
        "summary_contains": st.sampled_from(["tea", ["kettle"], ["a", "tea"]]),
        "max_actions": st.integers(0, 99),
        "max_duration_ms": st.floats(0, 1e6),
        "max_input_tokens": st.integers(0, 10**6),
        "handoff": st.sampled_from(["allow", "forbid", "require"]),
        "min_trial_pass_rate": st.floats(0, 1),
        "max_p95_duration_ms": st.floats(0, 1e6),
    },
)


def scored(case: EvalCase, raw: list[EvalTrialResult]) -> list[EvalTrialResult]:
    return [
        score_trial(case, trial.model_copy(update={"trial_index": index}))
        for index, trial in enumerate(raw)
    ]


def case_result(raw: list[EvalTrialResult], **fields: Any) -> Any:
    case = make_case(trials=len(raw), **fields)
    return score_case(case, scored(case, raw))


PASSING = make_trial()
FAILING = make_trial(success=False, error="lost")


def test_cost_is_tokens_times_price_per_million() -> None:
    case = make_case(**PRICED)
    trial = score_trial(case, make_trial(input_tokens=500_000, output_tokens=100_000))
    assert trial.estimated_cost_usd == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("execution_mode", "mode"), [("playbook_only", "playbook"), ("hybrid_auto", "playbook")]
)
def test_playbook_costs_nothing(execution_mode: str, mode: str) -> None:
    case = make_case(execution_mode=execution_mode, playbook="p", **PRICED)
    assert score_trial(case, make_trial(mode=mode, input_tokens=10**6)).estimated_cost_usd == 0.0


@pytest.mark.parametrize("mode", ["agent", "handoff"])
def test_cost_of_an_agent_that_reports_no_tokens_is_unknown(mode: str) -> None:
    trial = make_trial(mode=mode, input_tokens=0, output_tokens=0)
    assert score_trial(make_case(**PRICED), trial).estimated_cost_usd is None
    assert score_trial(make_case(), trial).estimated_cost_usd is None
    free = make_case(**dict.fromkeys(PRICED, 0.0))
    assert score_trial(free, trial).estimated_cost_usd == 0.0


def test_case_passes_only_if_all_trials_pass() -> None:
    assert case_result([PASSING, PASSING]).passed
    result = case_result([PASSING, FAILING])
    assert result.status is CaseStatus.FAILED
    assert result.failed_checks == ("trial 2: must_succeed: the agent did not succeed: lost",)
    assert result.error == "lost"


@pytest.mark.parametrize("n_passed", range(11))
def test_pass_rate_is_enough_exactly_from_its_limit_on(n_passed: int) -> None:
    raw = [PASSING] * n_passed + [FAILING] * (10 - n_passed)
    result = case_result(raw, expect={"min_trial_pass_rate": 0.7})
    assert result.passed == (n_passed >= 7)
    assert result.trial_pass_rate == n_passed / 10
    assert bool(result.failed_checks) == (n_passed < 7)


def test_p95_is_interpolated_between_neighbours() -> None:
    raw = [make_trial(duration_ms=float(ms)) for ms in (100, 200, 300)]
    assert case_result(raw).p95_duration_ms == pytest.approx(290.0)
    assert case_result(raw, expect={"max_p95_duration_ms": 290}).passed
    told = case_result(raw, expect={"max_p95_duration_ms": 289.9}).failed_checks
    assert told == ("max_p95_duration_ms: 290 ms, at most 289.9 expected",)


def test_trial_that_could_not_be_run_is_in_no_rate_and_no_average() -> None:
    result = case_result([PASSING, not_run()], expect={"min_trial_pass_rate": 0.5})
    assert result.status is CaseStatus.NOT_RUN
    assert not result.passed
    assert (result.trials_run, result.trial_pass_rate, result.avg_duration_ms) == (1, 1.0, 100.0)
    assert result.failures[0].message == "nobody answers"


def test_case_that_cannot_pass_any_more_has_failed_whatever_was_not_run() -> None:
    assert case_result([FAILING, not_run()]).status is CaseStatus.FAILED


def test_case_without_a_trial_that_ran_tells_why() -> None:
    result = case_result([not_run()])
    assert (result.status, result.error) == (CaseStatus.NOT_RUN, "nobody answers")
    assert result.trial_pass_rate is None


def test_trials_that_a_stopped_run_did_not_come_to_count_as_not_run() -> None:
    case = make_case(trials=2)
    assert score_case(case, scored(case, [PASSING])).status is CaseStatus.NOT_RUN
    assert score_case(case, scored(case, [FAILING])).status is CaseStatus.FAILED
    assert score_case(case, []).status is CaseStatus.NOT_RUN


def test_suite_counts_cases_and_defines_its_rates_over_trials() -> None:
    by_playbook = make_trial(mode="playbook")
    rescued = make_trial(mode="handoff", handed_off=True)
    lost = make_trial(mode="handoff", handed_off=True, success=False)
    cases = [
        case_result([by_playbook]),
        case_result([rescued]),
        case_result([lost]),
        case_result([PASSING]),
        case_result([not_run()]),
    ]
    report = score_suite("shop", cases)
    assert (report.passed, report.failed, report.not_run, report.total) == (3, 1, 1, 4)
    assert report.pass_rate == 0.75
    assert report.deterministic_hit_rate == pytest.approx(1 / 3)
    assert report.handoff_rate == pytest.approx(2 / 3)
    assert report.handoff_rescue_rate == 0.5


def test_what_has_nothing_to_count_is_none() -> None:
    report = score_suite("shop", [case_result([PASSING])])
    assert report.handoff_rate is None
    assert report.handoff_rescue_rate is None
    assert "handoff_rate" not in report.intervals
    assert score_suite("none", []).avg_duration_ms is None


@given(trials, expectations)
def test_trial_passes_exactly_if_no_check_fails(trial: Any, expect: dict[str, Any]) -> None:
    result = score_trial(make_case(expect=expect), trial)
    assert result.passed == (not result.failed_checks)
    assert result.estimated_cost_usd is None or result.estimated_cost_usd >= 0


@given(trials, expectations, expectations)
def test_more_expectations_never_make_a_failing_trial_pass(
    trial: Any, few: dict[str, Any], more: dict[str, Any]
) -> None:
    without = score_trial(make_case(expect={"must_succeed": False}), trial)
    all_of = {**more, "must_succeed": True, **few}
    assert without.passed
    if not score_trial(make_case(expect={"must_succeed": True, **few}), trial).passed:
        assert not score_trial(make_case(expect=all_of), trial).passed


@given(trial_lists, expectations)
def test_rates_lie_within_their_intervals(raw: list[Any], expect: dict[str, Any]) -> None:
    report = score_suite("any", [case_result(raw, expect=expect)])
    for name, (low, high) in report.intervals.items():
        assert 0 <= low <= getattr(report, name) <= high <= 1
    assert report.passed + report.failed == report.total
    assert report.total + report.not_run == 1


@given(trial_lists, expectations, st.randoms(use_true_random=False))
def test_order_of_trials_does_not_matter_for_the_verdict(
    raw: list[Any], expect: dict[str, Any], rng: random.Random
) -> None:
    shuffled = list(raw)
    rng.shuffle(shuffled)
    one, other = case_result(raw, expect=expect), case_result(shuffled, expect=expect)
    assert one.status == other.status
    assert one.trial_pass_rate == other.trial_pass_rate
    assert one.p95_duration_ms == other.p95_duration_ms


@given(trial_lists, expectations)
def test_a_failure_of_ours_never_fails_a_case_that_could_still_pass(
    raw: list[Any], expect: dict[str, Any]
) -> None:
    alone = case_result(raw, expect=expect)
    with_failure = case_result([*raw, not_run()], expect=expect)
    if alone.status is not CaseStatus.FAILED:
        assert with_failure.status is CaseStatus.NOT_RUN
