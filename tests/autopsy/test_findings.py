from __future__ import annotations

from dataclasses import replace

import pytest

from poor_bench.autopsy.findings import (
    AutopsyPlan,
    add_pairs,
    conclude,
    is_moved,
    make_plan,
    measure_environment,
    measure_single,
    share_evaluators,
)
from poor_bench.comparison.causes import ChangedFacts, Factor, Segment, TestBothWays
from poor_bench.models.test import Test
from poor_bench.statistics.attribution import Effect, Pair, RerunObservation
from poor_bench.statistics.intervals import Estimate

HUNK = Segment(("a",), ("b",), 0)


def plan(
    after: float, *, n_factors: int = 0, fixed: tuple[str, ...] = (), max_calls: int | None = None
) -> AutopsyPlan:
    tests = tuple(
        TestBothWays(
            test=Test(test_id=f"t{number}", class_id="c", level=1, text="x"),
            scores_before=(1.0,),
            scores_after=(after,),
            system=(),
            user=(HUNK,) if n_factors else (),
        )
        for number in range(20)
    )
    names = {number: f"p{number}" for number in range(1, n_factors)}
    factors = [Factor("prompt", "hunk", "edited"), *(Factor("parameter", n, "") for n in names)]
    facts = ChangedFacts(
        llm_id="a",
        tests=tests,
        factors=tuple(factors[:n_factors]),
        parameters=({}, {}),
        parameter_names={number: name for number, name in names.items() if number < n_factors},
        fixed=fixed,
    )
    return make_plan(facts, 1, after - 1.0, max_calls)


def taken_back(score: float) -> dict[str, list[float]]:
    return {f"t{number}": [score] for number in range(20)}


def test_single_change_is_explained_by_the_stored_scores() -> None:
    found = plan(0.0, n_factors=1)
    assert found.n_calls == 0
    [share] = measure_single(found, {}, has_environment=False)
    assert share.is_cause
    assert share.estimate.value == -1.0


def test_moved_model_alone_takes_the_change_without_reruns() -> None:
    found = plan(0.5, fixed=("model digest a -> b",))
    assert found.n_calls == 0
    share = measure_environment(found, {}, is_same_model=True)
    assert share is not None
    assert share.is_cause
    assert share.estimate.value == -0.5
    assert share.name == "model digest a -> b (not re-run)"


@pytest.mark.parametrize(("today", "model", "hunk"), [(0.0, -1.0, 0.0), (1.0, 0.0, -1.0)])
def test_what_is_left_with_the_prompt_taken_back_is_the_model(
    today: float, model: float, hunk: float
) -> None:
    found = plan(0.0, n_factors=1, fixed=("model digest a -> b",), max_calls=20)
    assert found.n_calls == 20
    share = measure_environment(found, taken_back(today), is_same_model=True)
    [single] = measure_single(found, taken_back(today), has_environment=True)
    assert share is not None
    assert (share.estimate.value, share.is_cause) == (model, bool(model))
    assert (single.estimate.value, single.is_cause) == (hunk, bool(hunk))


def test_another_model_today_tells_nothing_of_the_moved_one() -> None:
    found = plan(0.0, n_factors=1, fixed=("model digest a -> b",), max_calls=20)
    assert measure_environment(found, taken_back(0.0), is_same_model=False) is None


def test_at_most_a_quarter_of_the_full_factorial_is_asked() -> None:
    found = plan(0.0, n_factors=4)
    assert found.n_full == 20 * 16
    assert found.n_calls == found.n_full / 4
    checked = plan(0.0, n_factors=4, fixed=("machine A -> B",))
    assert checked.n_checks == 2
    assert checked.n_calls == checked.n_full / 4
    assert plan(0.0, n_factors=4, max_calls=7).n_calls == 6


def test_a_moved_model_and_one_change_need_one_rerun_of_each_test() -> None:
    found = plan(0.0, n_factors=1, fixed=("model digest a -> b",))
    assert (found.n_checks, found.n_calls) == (1, 20)
    assert plan(0.0, n_factors=1, fixed=("model digest a -> b",), max_calls=7).n_calls == 0


def test_evaluator_takes_what_the_same_answers_gained() -> None:
    [share] = share_evaluators({"number_match": [-1.0, -1.0]}, 20)
    assert share.estimate.value == -0.1
    found = conclude(plan(0.0), [share], [-1.0] * 20, 0)
    assert found.unexplained == pytest.approx(-0.9)
    assert found.verdict.startswith("-0.100 of -1.000: evaluator number_match.")


def test_change_without_causes_is_noise_unless_it_is_significant() -> None:
    assert "noise" in conclude(plan(1.0), [], [1.0, -1.0] * 10, 0).verdict
    assert conclude(plan(0.0), [], [-1.0] * 20, 0).verdict == (
        "No cause found for the change of -1.000."
    )


def test_change_of_tests_in_few_groups_is_tested_by_group() -> None:
    alone = plan(0.5, n_factors=1)
    tests = tuple(
        replace(each, test=replace(each.test, group=f"passage {number // 5}"))
        for number, each in enumerate(alone.facts.tests)
    )
    grouped = replace(alone, facts=replace(alone.facts, tests=tests))
    p_values = [conclude(each, [], [-0.5] * 20, 0).change_p_value for each in (alone, grouped)]
    assert p_values[0] < 0.001
    assert p_values[1] == 1 / 16


def test_pairs_without_the_found_causes_tell_of_the_moved_model() -> None:
    found = plan(0.0, n_factors=3, fixed=("model digest a -> b",), max_calls=60)
    exact = Estimate(value=0.0, low=0.0, high=0.0, n=1)
    effects = [Effect(estimate=exact, is_cause=place == 1, p_value=0.0) for place in range(3)]
    pairs = [
        RerunObservation(Pair(0, (1, 1, -1)), 0.25, 0.75),
        RerunObservation(Pair(0, (1, -1, 1)), 0.5, 0.0),
        RerunObservation(Pair(1, (1, 0, 1)), 0.1, 0.2),
        RerunObservation(Pair(2, (1, 1, 1)), 0.3, 0.4),
    ]
    known = {"t0": [1.0], "t1": [1.0]}
    assert add_pairs(found, known, pairs, effects) == {
        "t0": [1.0, 0.75, 0.5],
        "t1": [1.0, 0.1, 0.2],
    }
    assert add_pairs(found, known, pairs[:1], [])["t0"] == [1.0, 0.25, 0.75]


def test_run_that_repeats_itself_does_not_pass_for_a_moved_model() -> None:
    before = [[1.0]] * 12 + [[0.0]] * 5 + [[1.0]] * 43
    repeats = [[0.0] * 8] * 12 + [[1.0] * 8] * 5 + [[1.0] * 8] * 43
    assert not is_moved(before, repeats, 0.03)
    independent = repeats[:37] + [[1.0, 0.0] * 4] * 23
    assert is_moved(before, independent, 0.03)
    assert is_moved(before, [[0.0] * 8] * 17 + [[1.0] * 8] * 43, 0.03)
