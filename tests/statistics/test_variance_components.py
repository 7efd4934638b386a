from __future__ import annotations

import numpy as np
import pytest

from poor_bench.models.result import Result
from poor_bench.statistics.variance_components import (
    Components,
    Observations,
    estimate_components,
    observe,
)


def observe_scores(scores: dict[str, list[float]], llm_id: str = "a") -> Observations:
    return observe(
        Result(llm_id=llm_id, test_id=test_id, trial=trial, score=score)
        for test_id, of_test in scores.items()
        for trial, score in enumerate(of_test)
    )[llm_id]


def estimate(scores: dict[str, list[float]], **groups: str) -> Components:
    found = estimate_components(observe_scores(scores), groups=groups)
    assert found is not None
    return found


def test_estimates_of_uneven_groups_trials_and_judgements_are_unbiased() -> None:
    rng = np.random.default_rng(1)
    sizes, truth = (
        [1, 2, 5, 3, 4, 1, 2, 6],
        {"group": 0.05, "test": 0.03, "trial": 0.06, "judge": 0.04},
    )
    found: list[tuple[float, ...]] = []
    units = np.repeat(np.arange(len(sizes)), sizes)
    n_trials = np.resize([1, 2, 4], len(units))
    names = tuple(f"t{place}" for place in range(len(units)))
    groups = {name: f"g{unit}" for name, unit in zip(names, units, strict=True)}
    exists = np.arange(4) < n_trials[:, None]
    for _ in range(1500):
        of_test = rng.normal(0, truth["group"] ** 0.5, len(sizes))[units]
        of_test = of_test + rng.normal(0, truth["test"] ** 0.5, len(units))
        judged = rng.normal(0, truth["judge"] ** 0.5, (len(units), 4, 3))
        trials = of_test[:, None] + rng.normal(0, truth["trial"] ** 0.5, (len(units), 4))
        trials = trials + judged.mean(axis=2)
        mean = (trials * exists).sum(axis=1) / n_trials
        observed = Observations(
            test_ids=names,
            mean=mean,
            n_trials=n_trials.astype(float),
            squares=((trials - mean[:, None]) ** 2 * exists).sum(axis=1),
            unjudged=np.full(len(units), 1 / 3),
            judge_squares=(judged.var(axis=2) * 3 * exists).sum(axis=1),
            judge_freedom=n_trials * 2.0,
        )
        each = estimate_components(observed, groups=groups)
        assert each is not None
        assert each.group is not None
        [side] = each.sides
        assert side.trial is not None
        assert side.judge is not None
        found.append((each.group, each.test, side.trial, side.judge))
    values = np.array(found)
    errors = values.std(axis=0, ddof=1) / len(values) ** 0.5
    assert (np.abs(values.mean(axis=0) - list(truth.values())) < 3.5 * errors).all()


def test_a_score_that_repeats_exactly_has_no_noise_of_trials() -> None:
    found = estimate({"t": [1.0, 1.0], "u": [0.0, 0.0], "v": [1.0, 1.0]})
    assert found.trials_variance == 0
    assert found.tests_variance == pytest.approx(np.var([1, 0, 1], ddof=1) / 3)


def test_trials_are_not_known_where_no_test_has_a_second_one() -> None:
    found = estimate({"t": [1.0], "u": [0.0]})
    assert found.trials_variance is None
    assert found.total_variance == pytest.approx(0.25)


def test_nothing_is_known_from_one_group() -> None:
    observed = observe_scores({"t": [1.0, 0.0], "u": [0.0]})
    assert estimate_components(observed, groups={"t": "g", "u": "g"}) is None


def test_a_difference_has_the_noise_of_both_llms_on_common_tests() -> None:
    one = observe_scores({"t": [1.0, 0.0], "u": [1.0, 1.0], "v": [0.0, 0.0], "alone": [0.0, 1.0]})
    other = observe_scores({"v": [0.0, 1.0], "u": [0.0, 0.0], "t": [0.0, 0.0]}, "b")
    found = estimate_components(one, other)
    assert found is not None
    assert found.n_tests == 3
    assert [side.trial for side in found.sides] == pytest.approx([0.5 / 3, 0.5 / 3])
    values = np.array([0.5, 1.0, -0.5])
    assert found.test == pytest.approx(values.var(ddof=1) - 0.5 / 3)


def test_what_one_llm_does_not_tell_is_not_known_of_the_difference() -> None:
    one, other = observe_scores({"t": [1.0, 0.0], "u": [1.0]}), observe_scores({"t": [1], "u": [0]})
    found = estimate_components(one, other)
    assert found is not None
    assert found.trials_variance is None
    assert [side.trial for side in found.sides] == [None, None]


def judged(test_id: str, score: float, *points: float) -> Result:
    samples = [{"overall_score": each, "is_fallback": False} for each in points]
    return Result(llm_id="a", test_id=test_id, score=score, judgement={"samples": samples})


def test_repeated_judgements_tell_the_noise_of_the_judge() -> None:
    found = estimate_components(
        observe([judged("t", 0.5, 4.0, 6.0), judged("u", 0.9, 9.0, 9.0)])["a"]
    )
    assert found is not None
    assert found.sides[0].judge == pytest.approx(0.01)
    assert found.judge_variance == pytest.approx(0.01 / 2 / 2)


def test_judgements_that_do_not_make_up_the_score_are_left_out() -> None:
    found = estimate_components(observe([judged("t", 0.1, 4.0, 6.0), judged("u", 1.0, 5.0)])["a"])
    assert found is not None
    assert not found.is_judged


def test_a_single_judgement_leaves_the_noise_of_the_judge_unknown() -> None:
    found = estimate_components(observe([judged("t", 0.5, 5.0), judged("u", 1.0, 10.0)])["a"])
    assert found is not None
    assert found.is_judged
    assert found.judge_variance is None
