from __future__ import annotations

from collections.abc import Sequence

import pytest

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.gates.check import Evidence, check_gates
from poor_bench.gates.gate import Gate, GateKind
from poor_bench.gates.plan import (
    Decided,
    OpenQuestion,
    are_all_decided,
    find_open_questions,
    keep_decided,
    plan_gates,
)
from poor_bench.messages import write_share
from poor_bench.models.result import Result
from poor_bench.reports.gate_text import plan_lines, plan_rows, plans_to_json
from poor_bench.statistics.non_inferiority import GateVerdict, VarianceSource
from tests.comparison.builders import side
from tests.gates.builders import evidence, scores


def test_without_a_gate_all_tests_of_each_model_are_planned() -> None:
    [plan] = plan_gates([], evidence([], n_tests=60), drop=0.1, power=0.8)
    assert (plan.trials.n_tests, plan.source) == (60, VarianceSource.ASSUMED)
    assert plan.trials_to_pass is not None
    text = "\n".join(plan_lines(plan, "Ann"))
    assert "Ann: 60 tests, as many trials in the baseline as after" in text
    assert "assumed: no test has two trials" in text
    assert f"60 tests x {plan.trials_to_fail} trials see a drop of 0.1" in text


def test_a_stored_baseline_limits_what_trials_can_do() -> None:
    before, after = scores([1.0, 0.0] * 30), scores([0.0, 1.0] * 30)
    [comparison] = compare_result_sets(side(*before), side(*after))
    known = evidence(after, comparisons={"b": {"a": comparison}})
    gate = Gate(kind=GateKind.NO_REGRESSION, limit=0.05, baseline="b")
    [plan] = plan_gates([gate], known, drop=0.1, power=0.8)
    assert (plan.trials.n_before, plan.source) == (1.0, VarianceSource.PAIRS)
    assert plan.trials_to_pass is None
    assert "since the baseline has too few" in "\n".join(plan_lines(plan, "Ann"))
    [row] = plans_to_json([plan])["plans"]
    assert row["trials_to_pass"] is None
    assert row["trials_to_pass_with_new_baseline"] > 20


def test_table_and_json_show_the_same_chances() -> None:
    [plan] = plan_gates([], evidence(scores([1.0] * 30)), drop=0.2, power=0.9)
    [document] = plans_to_json([plan])["plans"]
    shown = [row[">Unchanged passes"] for row in plan_rows(plan)]
    assert shown == [write_share(row["passes_unchanged"]) for row in document["rows"]]


@pytest.mark.parametrize("drop", [0.03, 0.05])
def test_a_drop_within_the_tolerance_is_told(drop: float) -> None:
    [plan] = plan_gates([], evidence(scores([1.0] * 30)), drop=drop, power=0.8)
    assert "within the tolerance" in "\n".join(plan_lines(plan, "Ann"))


GATE = Gate(kind=GateKind.NO_REGRESSION, limit=0.05, baseline="base.json")


def known(before: Sequence[Result], after: Sequence[Result], n_tests: int) -> Evidence:
    [comparison] = compare_result_sets(side(*before), side(*after))
    return evidence(
        after, n_tests, comparisons={"base.json": {"a": comparison}}, is_sequential=True
    )


def find_open(before: Sequence[Result], after: Sequence[Result], n: int) -> list[OpenQuestion]:
    facts = known(before, after, n)
    return find_open_questions(check_gates([GATE], facts), facts)


def test_undecided_questions_are_open_with_their_tests() -> None:
    [question] = find_open(scores([1.0] * 10), scores([1.0] * 10), 10)
    assert (question.llm_id, question.n_trials, len(question.test_ids)) == ("a", 1, 10)
    assert question.can_be_decided


def test_decided_questions_are_not_open() -> None:
    assert find_open(scores([1.0] * 60), scores([1.0] * 60), 60) == []
    assert find_open(scores([1.0] * 90), scores([0.0] * 90), 90) == []


def test_answers_that_repeat_at_the_tolerance_cannot_be_decided() -> None:
    before = scores([1.0] * 60, response="x")
    values = [1.0] * 57 + [0.0] * 3
    after = [
        result for trial in range(1, 4) for result in scores(values, trial=trial, response="x")
    ]
    [question] = find_open(before, after, 60)
    assert not question.can_be_decided


def test_a_verdict_at_every_look_needs_more_than_one_at_a_single_look() -> None:
    before, after = scores([1.0] * 40 + [0.0] * 20), scores([0.0] * 20 + [1.0] * 30 + [0.0] * 10)
    often = check_gates([GATE], known(before, after, 60))[0]
    [comparison] = compare_result_sets(side(*before), side(*after))
    once = evidence(after, 60, comparisons={"base.json": {"a": comparison}})
    [single, *_] = check_gates([GATE], once)
    assert often.low is not None
    assert single.low is not None
    assert often.low < single.low


def test_a_decision_stays_whatever_later_trials_show() -> None:
    decided: Decided = {}
    first = known(scores([1.0] * 60), scores([1.0] * 60), 60)
    later = known(scores([1.0] * 60), scores([1.0] * 57 + [0.0] * 3), 60)
    [early, *_] = keep_decided(check_gates([GATE], first), decided)
    [late, *_] = keep_decided(check_gates([GATE], later), decided)
    assert late is early
    assert check_gates([GATE], later)[0].verdict is GateVerdict.UNDECIDED


def test_only_passes_and_fails_decide() -> None:
    undecided = check_gates([GATE], known(scores([1.0] * 9), scores([1.0] * 9), 9))
    assert not are_all_decided(undecided)
    assert not are_all_decided(check_gates([GATE], evidence([], 9)))
    assert are_all_decided(check_gates([GATE], known(scores([1.0] * 60), scores([1.0] * 60), 60)))


def test_no_more_trials_follow_than_wanted() -> None:
    [question] = find_open(scores([1.0] * 10), scores([1.0] * 10), 10)
    assert question.may_go_on(number=1, most=2)
    assert not question.may_go_on(number=1, most=1)
    assert not question.may_go_on(number=3, most=2)
