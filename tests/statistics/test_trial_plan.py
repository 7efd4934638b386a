from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.non_inferiority import Trials, gather_trials, measure_change
from poor_bench.statistics.trial_plan import (
    TrialPlan,
    VarianceSource,
    estimate_trial_variance,
)

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
