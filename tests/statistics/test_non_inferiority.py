from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from poor_bench.statistics.non_inferiority import (
    Change,
    GateVerdict,
    TrialPlan,
    Trials,
    VarianceSource,
    compute_anytime_margins,
    decide,
    estimate_trial_variance,
    gather_trials,
    measure_change,
)

SCORES = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=6)


def change_of(before: list[list[float]], after: list[list[float]], **facts: bool) -> Change:
    return measure_change(gather_trials(before), gather_trials(after), **facts)


def draw(rng: np.random.Generator, chances: np.ndarray, n: int, runs: int) -> Trials:
    passed = rng.binomial(n, chances, (runs, len(chances)))
    mean = passed / n
    return Trials(n=np.full(mean.shape, float(n)), mean=mean, squares=passed * (1 - mean))


def test_trials_that_all_agree_leave_the_rule_of_three() -> None:
    change = change_of([[1.0]] * 60, [[1.0]] * 60)
    assert float(change.value) == 0.0
    assert float(change.compute_margin()) == pytest.approx(-math.log(0.05) / 60)


def test_repeats_show_the_scatter_of_trials_and_not_that_of_tests() -> None:
    steady = change_of([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]])
    assert float(steady.variance) == 0.0
    single = change_of([[1.0], [0.0]], [[0.0], [1.0]])
    assert float(single.variance) == pytest.approx(0.5)
    mixed = change_of([[1.0, 0.0]], [[1.0, 0.0, 1.0]])
    assert float(mixed.variance) == pytest.approx(0.5 / 2 + (1 / 3) / 3)


def test_tests_that_were_not_asked_again_did_not_change() -> None:
    change = change_of([[1.0], [0.0, 1.0]], [[], []])
    assert (float(change.value), float(change.compute_margin())) == (0.0, 0.0)
    half = change_of([[1.0], [1.0]], [[0.0], []])
    assert float(half.value) == -0.5


def test_answers_that_repeat_count_with_all_their_trials() -> None:
    before, after = [[1.0]] * 20, [[1.0] * 3] * 20
    known = change_of(before, after, is_repeatable=True)
    assert float(known.step) == pytest.approx(1 / 60)
    assert float(change_of(before, after).step) == pytest.approx(1 / 20)


@given(SCORES)
def test_exchanged_sides_turn_the_change_around(scores: list[list[float]]) -> None:
    other = [[1 - value for value in values] for values in reversed(scores)]
    there, back = change_of(scores, other), change_of(other, scores)
    assert float(there.value) == pytest.approx(-float(back.value))
    assert float(there.compute_margin()) == pytest.approx(float(back.compute_margin()))
    assert float(there.compute_anytime_margin(0.05)) >= float(there.compute_margin()) - 1e-9


def test_each_verdict_is_reachable() -> None:
    assert decide(-0.04, 0.01, 0.05) is GateVerdict.PASSED
    assert decide(-0.2, -0.06, 0.05) is GateVerdict.FAILED
    assert decide(-0.2, -0.01, 0.05) is GateVerdict.UNDECIDED


def test_no_test_is_no_change() -> None:
    with pytest.raises(ValueError, match="at least one test"):
        change_of([], [])


@pytest.mark.parametrize("chance", [0.97, 0.8, 0.5])
@pytest.mark.parametrize("n_trials", [1, 3])
def test_a_drop_at_the_tolerance_seldom_passes_or_fails(chance: float, n_trials: int) -> None:
    rng = np.random.default_rng(1)
    chances = np.full(60, chance)
    change = measure_change(
        draw(rng, chances, n_trials, 2000), draw(rng, chances - 0.05, n_trials, 2000)
    )
    margin = change.compute_margin()
    assert (change.value - margin >= -0.05).mean() < 0.07
    assert (change.value + margin < -0.05).mean() < 0.07


def test_looking_after_each_trial_seldom_errs() -> None:
    rng = np.random.default_rng(2)
    chances, runs = np.full(60, 0.9), 600
    before = draw(rng, chances, 9, runs)
    passed = np.zeros((runs, 60))
    ever_passed, ever_failed = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for number in range(1, 19):
        passed += rng.random((runs, 60)) < chances - 0.05
        mean = passed / number
        after = Trials(n=np.full(mean.shape, float(number)), mean=mean, squares=passed * (1 - mean))
        change = measure_change(before, after)
        margin = change.compute_anytime_margin(0.05)
        ever_passed |= change.value - margin >= -0.05
        ever_failed |= change.value + margin < -0.05
    assert ever_passed.mean() < 0.05
    assert ever_failed.mean() < 0.05


def test_the_limit_is_where_the_mixed_likelihood_ratio_reaches_the_error() -> None:
    variance, scale, error = 0.002, 0.05, 0.05
    margin = float(compute_anytime_margins(variance, scale=scale, error=error))
    effects = np.linspace(0, 1, 200_001)
    density = 2 * norm.pdf(effects, scale=scale)
    ratio = norm.pdf(margin, effects, variance**0.5) / norm.pdf(margin, 0, variance**0.5)
    assert float(np.trapezoid(ratio * density, effects)) == pytest.approx(1 / error, rel=1e-3)


def test_the_margin_shrinks_with_the_variance() -> None:
    margins = compute_anytime_margins([0.01, 0.001, 0.0001], scale=0.05)
    assert (np.diff(margins) < 0).all()


def test_all_looks_at_a_random_walk_together_err_at_most_as_often_as_wanted() -> None:
    rng = np.random.default_rng(4)
    steps = np.arange(1, 301)
    means = rng.normal(size=(2000, 300)).cumsum(axis=1) / steps
    margins = compute_anytime_margins(1 / steps, scale=0.3)
    assert (means > margins).any(axis=1).mean() < 0.05
    assert (means > norm.ppf(0.95) / np.sqrt(steps)).any(axis=1).mean() > 0.2


@pytest.mark.parametrize(("scale", "error"), [(0, 0.05), (0.1, 0), (0.1, 0.5)])
def test_parameters_out_of_range_are_refused(scale: float, error: float) -> None:
    with pytest.raises(ValueError, match="scale must be above 0"):
        compute_anytime_margins(0.1, scale=scale, error=error)


PLAN = TrialPlan(n_tests=60, variance=0.09, tolerance=0.05, mean=0.9)


def test_planned_trials_are_the_fewest_with_the_wanted_chance() -> None:
    needed = PLAN.find_trials_to_pass(0.8)
    assert needed is not None
    assert PLAN.chance_of_pass(needed) >= 0.8 > PLAN.chance_of_pass(needed - 1)
    caught = PLAN.find_trials_to_fail(0.1, 0.8)
    assert caught is not None
    assert PLAN.chance_of_fail(caught, 0.1) >= 0.8 > PLAN.chance_of_fail(caught - 1, 0.1)


def test_planned_power_is_what_a_simulation_finds() -> None:
    rng = np.random.default_rng(3)
    n_trials = PLAN.find_trials_to_fail(0.1)
    assert n_trials is not None

    def draw(chance: float) -> Trials:
        passed = rng.binomial(n_trials, np.full((2000, 60), chance))
        mean = passed / n_trials
        counts = np.full(mean.shape, float(n_trials))
        return Trials(n=counts, mean=mean, squares=passed * (1 - mean))

    change = measure_change(draw(0.9), draw(0.8))
    assert (change.value + change.compute_margin() < -0.05).mean() == pytest.approx(0.81, abs=0.03)


def test_a_baseline_with_few_trials_never_lets_an_unchanged_model_pass() -> None:
    few = TrialPlan(n_tests=60, variance=0.09, tolerance=0.05, mean=0.9, n_before=1)
    assert few.find_trials_to_pass() is None


def test_a_drop_within_the_tolerance_is_never_planned_to_fail() -> None:
    assert PLAN.find_trials_to_fail(0.04) is None
    assert PLAN.find_trials_to_fail(0.05, power=0.02) is None


@given(st.integers(1, 200), st.integers(1, 50), st.floats(0, 0.25), st.floats(0.05, 1))
def test_more_trials_show_smaller_drops(
    n_tests: int, n_trials: int, variance: float, mean: float
) -> None:
    plan = TrialPlan(n_tests=n_tests, variance=variance, tolerance=0.05, mean=mean)
    few, many = plan.find_drop(n_trials), plan.find_drop(2 * n_trials)
    assert few is None or (many is not None and many <= few)


def test_variance_comes_from_repeats_then_from_pairs_then_from_an_assumption() -> None:
    nothing = gather_trials([[], []])
    repeated = estimate_trial_variance(gather_trials([[1.0, 0.0], [1.0, 1.0]]), nothing)
    assert repeated == (0.25, VarianceSource.REPEATS)
    paired = estimate_trial_variance(gather_trials([[1.0], [1.0]]), gather_trials([[0.0], [1.0]]))
    assert paired == (0.25, VarianceSource.PAIRS)
    assert estimate_trial_variance(nothing, nothing).source is VarianceSource.ASSUMED
