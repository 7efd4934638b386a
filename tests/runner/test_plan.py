from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.plan import make_plan
from poor_bench.runner.trial_states import TrialName, TrialState, TrialStates

LLMS = [LLM(id=f"x:{name}", provider="x", name=name) for name in "ab"]
TESTS = [Test(test_id=f"t{n}", class_id="c", level=1, text="") for n in range(3)]


class PresentFingerprints:
    def of_request(self, llm: LLM, test: Test) -> str:
        return "asked so"

    def digest_requests(self, llms: Sequence[LLM], test: Test) -> list[bytes]:
        return [bytes.fromhex(self.of_request(llm, test)) for llm in llms]

    def identify_requests(self) -> str:
        return ""

    def identify_evaluators(self) -> str:
        return ""

    def of_evaluator(self, test: Test) -> str:
        return "scored so"


def result(llm_id: str = "x:a", test_id: str = "t0", **fields: Any) -> Result:
    values = {"request_fingerprint": "asked so", "evaluator_fingerprint": "scored so"} | fields
    score = None if "failure" in fields else 1.0
    return Result(llm_id=llm_id, test_id=test_id, score=score, **values)


def failure(kind: FailureKind, **fields: Any) -> Result:
    return result(failure=Failure(kind=kind, message="lost"), **fields)


def states_of(*results: Result, trials: int = 1) -> TrialStates:
    states = TrialStates(LLMS, TESTS, trials)
    states.note_all(results, PresentFingerprints())
    return states


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        ([], TrialState.PENDING),
        ([result()], TrialState.DONE),
        ([result(request_fingerprint="", evaluator_fingerprint="")], TrialState.DONE),
        ([result(request_fingerprint="asked otherwise")], TrialState.STALE_REQUEST),
        ([result(evaluator_fingerprint="scored otherwise")], TrialState.STALE_SCORE),
        ([failure(FailureKind.TIMEOUT)], TrialState.FAILED),
        ([failure(FailureKind.EVALUATOR, response="4")], TrialState.STALE_SCORE),
        ([failure(FailureKind.EVALUATOR)], TrialState.FAILED),
        (
            [failure(FailureKind.EVALUATOR, response="4", request_fingerprint="otherwise")],
            TrialState.FAILED,
        ),
        ([failure(FailureKind.TIMEOUT), result()], TrialState.DONE),
        ([result(), failure(FailureKind.TIMEOUT)], TrialState.DONE),
    ],
)
def test_stored_results_tell_the_state_of_a_trial(stored: list[Result], state: TrialState) -> None:
    assert states_of(*stored).state(0, 0, 1) is state


def test_results_of_others_and_of_further_trials_are_passed_over() -> None:
    states = states_of(result("x:gone"), result(test_id="gone"), result(trial=2), result(trial=99))
    assert states.count(0)[TrialState.PENDING] == 3
    assert states.find_state(result(trial=2)) is None


def test_each_trial_has_a_state_of_its_own() -> None:
    states = states_of(result("x:b", "t1", trial=2), trials=2)
    assert states.state(1, 1, 2) is TrialState.DONE
    counted = states.count(1)
    assert (counted[TrialState.DONE], counted[TrialState.PENDING]) == (1, 5)


def test_plan_asks_every_test_once_before_any_test_twice() -> None:
    [first, second] = make_plan(states_of(result(trial=2), trials=2)).works
    asked = [(item.test.test_id, item.trial) for item in first.items()]
    assert asked == [("t0", 1), ("t1", 1), ("t2", 1), ("t1", 2), ("t2", 2)]
    assert (len(first), len(second)) == (5, 6)


def test_plan_scores_again_without_asking_unless_all_is_asked_again() -> None:
    states = states_of(result(evaluator_fingerprint="otherwise"))
    plan = make_plan(states)
    assert (plan.n_items, plan.n_stale_scores) == (5, 1)
    forced = make_plan(states, force=True)
    assert (forced.n_items, forced.n_stale_scores) == (6, 0)


def test_plan_of_named_trials_asks_these_and_no_others_unless_only_the_score_is_missing() -> None:
    done, unscored = result("x:a", "t0"), result("x:b", "t1", evaluator_fingerprint="otherwise")
    named = [TrialName("x:a", "t0", 1), TrialName("x:b", "t1", 1), TrialName("x:b", "t2", 2)]
    plan = make_plan(
        states_of(done, unscored, trials=2), only=[*named, TrialName("x:b", "gone", 1)]
    )
    asked = [item for work in plan.works for item in work.items()]
    assert [(item.llm.id, item.test.test_id, item.trial) for item in asked] == [named[0], named[2]]
    assert plan.n_stale_scores == 1


def test_llm_without_anything_to_do_is_not_in_the_plan() -> None:
    done = [result("x:a", test.test_id) for test in TESTS]
    assert [work.llm.id for work in make_plan(states_of(*done)).works] == ["x:b"]
    assert make_plan(TrialStates([], TESTS, 1)).is_empty


def test_trials_in_a_batch_are_not_asked_whatever_is_wanted() -> None:
    states = states_of(failure(FailureKind.TIMEOUT))
    name = TrialName("x:a", "t0", 1)
    states.note_batched([name, TrialName("x:a", "gone", 1), TrialName("x:a", "t0", 7)])
    assert (states.n_in_batch, states.standing(0).in_batch, states.standing(1).in_batch) == (
        1,
        1,
        0,
    )
    for plan in (make_plan(states), make_plan(states, force=True), make_plan(states, only=[name])):
        asked = {(i.llm.id, i.test.test_id) for work in plan.works for i in work.items()}
        assert ("x:a", "t0") not in asked
    assert states.standing(0).failed == 1


def test_tests_of_one_template_are_asked_one_after_the_other() -> None:
    tests = [Test(test_id=f"t{n}", class_id="ab"[n % 2], level=1, text="") for n in range(4)]
    plan = make_plan(TrialStates(LLMS[:1], tests, 2))
    asked = [(item.trial, item.test.test_id) for item in plan.works[0].items()]
    first = ["t0", "t2", "t1", "t3"]
    assert asked == [(1, test_id) for test_id in first] + [(2, test_id) for test_id in first]


def test_each_trial_of_a_plan_costs_no_call() -> None:
    tests = [Test(test_id=f"t{n}", class_id="ab"[n % 2], level=1, text="") for n in range(800)]
    few, many = (count_calls(partial(plan_and_price, tests[:n])) for n in (400, 800))
    assert few == many


def plan_and_price(tests: Sequence[Test]) -> None:
    states = TrialStates(LLMS, tests, 2)
    assert make_plan(states, among=[TrialState.FAILED]).is_empty
    for work in make_plan(states).works:
        by_class = work.split_by_class()
        sizes = {name: (len(some), len(some.sample(20))) for name, some in by_class.items()}
        assert sizes == dict.fromkeys("ab", (len(tests), 20))


def count_calls(work: Callable[[], None]) -> int:
    n_calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n_calls


def test_models_that_are_asked_everything_share_the_numbers_of_their_trials() -> None:
    first, second = make_plan(TrialStates(LLMS, TESTS, 2)).works
    assert first.numbers is second.numbers
