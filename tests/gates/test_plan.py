from __future__ import annotations

import pytest

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.gates.gate import Gate, GateKind
from poor_bench.gates.plan import plan_gates
from poor_bench.reports.gate_text import plan_lines, plan_rows, plans_to_json
from poor_bench.statistics.non_inferiority import VarianceSource
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
    assert shown == [f"{row['passes_unchanged']:.0%}" for row in document["rows"]]


@pytest.mark.parametrize("drop", [0.03, 0.05])
def test_a_drop_within_the_tolerance_is_told(drop: float) -> None:
    [plan] = plan_gates([], evidence(scores([1.0] * 30)), drop=drop, power=0.8)
    assert "within the tolerance" in "\n".join(plan_lines(plan, "Ann"))
