from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import logsumexp

from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.statistics.outcomes import PASSED, collect_outcomes
from poor_bench.statistics.sound_tests import (
    AnswerSpace,
    SoundTests,
    add_log_chances,
    count_declared_answers,
    draw_sound_tests,
    estimate_n_answers,
    find_patterns,
    fit_counts,
    fit_sound_tests,
    integrate_chance,
    number_answers,
    scatter_answers,
)

ABILITY = np.linspace(-1.5, 1.5, 9)


def draw_passes(sticky: float) -> np.ndarray:
    """Trials of 200 tests: 0 passes, 1 fails; three trials per model."""
    rng = np.random.default_rng(7)
    chance = 1 / (1 + np.exp(rng.normal(size=(200, 1)) - ABILITY))
    luck = rng.random((200, 9, 3))
    luck = np.where(rng.random((200, 9, 1)) < sticky, luck[:, :, :1], luck)
    return np.where(luck < chance[:, :, None], PASSED, 1)


@pytest.mark.parametrize(("sticky", "low", "high"), [(0.0, 0.0, 0.1), (0.5, 0.3, 0.6)])
def test_repeated_trials_are_noticed(sticky: float, low: float, high: float) -> None:
    sound = fit_sound_tests(draw_passes(sticky), np.ones(200), np.zeros(9), 2.0)
    assert low <= sound.sticky <= high
    assert np.corrcoef(sound.ability, ABILITY)[0, 1] > 0.98


def test_identical_trials_are_worth_one() -> None:
    once = draw_passes(0.0)[:, :, :1]
    single = fit_sound_tests(once, np.ones(200), np.zeros(9), 2.0)
    threefold = fit_sound_tests(np.repeat(once, 3, axis=2), np.ones(200), np.zeros(9), 2.0)
    assert threefold.sticky > 0.98
    assert np.allclose(single.ability, threefold.ability, atol=0.1)


@pytest.mark.parametrize("n_trials", [1, 3])
def test_a_fit_to_many_models_needs_no_further_table_of_all_trials(n_trials: int) -> None:
    rng = np.random.default_rng(1)
    counts = [np.full((500, 100), float(n_trials)), rng.integers(0, n_trials + 1, (500, 100)) * 1.0]
    before = [each.copy() for each in counts]
    tracemalloc.start()
    try:
        fit_counts(*counts, np.ones(500), np.zeros(100), 2.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_trials > 1 or peak < counts[0].nbytes
    assert all((old == new).all() for old, new in zip(before, counts, strict=True))


def test_chances_of_all_outcomes_sum_to_one() -> None:
    passing = np.log([[0.3, 0.6]])
    failing = np.log(1 - np.exp(passing))
    sound = SoundTests(passing, failing, np.log([0.5, 0.5]), np.zeros(1), 0.4)
    passes = np.arange(3) < np.arange(4)[:, None, None]
    patterns = find_patterns(passes, ~passes)
    assert sorted(pattern.times for pattern in patterns) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    chances = np.exp(integrate_chance(patterns, np.stack([passing, failing]), sound))
    assert np.isclose(chances @ [1, 3, 3, 1], 1.0)


def test_answers_of_different_models_come_from_one_urn() -> None:
    trials = np.array([[[1], [1]], [[1], [2]]])
    chances = np.exp(scatter_answers(number_answers(trials), trials > 0, AnswerSpace(4, 0.5, 0.8)))
    assert np.allclose(chances, [1 / 3 * 1.5 / 2.5, 1 / 3 * 0.5 / 2.5])


@pytest.mark.parametrize("n_answers", [2, 4])
def test_chances_of_all_wrong_answers_of_a_model_sum_to_one(n_answers: int) -> None:
    wrong = range(1, n_answers)
    trials = np.array([[each] for each in product(wrong, wrong)])
    space = AnswerSpace(n_answers, 0.5, 0.8)
    chances = np.exp(scatter_answers(number_answers(trials), trials > 0, space))
    assert np.isclose(chances.sum(), 1.0)


def test_spread_of_abilities_is_not_shrunk_by_unknown_difficulties() -> None:
    rng = np.random.default_rng(3)
    chance = 1 / (1 + np.exp(rng.normal(size=(2000, 1)) - 2 * ABILITY))
    trials = np.where(rng.random(chance.shape) < chance, PASSED, 1)[:, :, None]
    sound = fit_sound_tests(trials, np.ones(2000), np.zeros(9), 2.0)
    assert 0.97 < sound.ability.std() / (2 * ABILITY).std() < 1.05


def test_drawn_tests_miss_what_is_missing_and_repeat_like_the_fitted() -> None:
    trials = draw_passes(0.999)
    trials[0] = -2
    sound = fit_sound_tests(trials, np.ones(200), np.zeros(9), 2.0)
    space = AnswerSpace(10, 0.5, 0.5)
    drawn = draw_sound_tests(np.random.default_rng(1), trials, sound, space)
    assert (drawn[0] == -2).all()
    assert ((drawn[1:] == drawn[1:, :, :1]).mean()) > 0.98


LOGS = st.one_of(st.just(-np.inf), st.floats(-1e4, 700))


@pytest.mark.parametrize("axis", [0, 1])
@given(logs=arrays(np.float64, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=LOGS))
def test_chances_are_added_as_scipy_does(logs: np.ndarray, axis: int) -> None:
    with np.errstate(divide="ignore"):
        wanted = logsumexp(logs, axis=axis)
    assert add_log_chances(logs, axis=axis) == pytest.approx(wanted)


def declared(**parameters: object) -> int | None:
    spec = EvaluatorSpec("any", parameters)
    return count_declared_answers(
        Test(test_id="t", class_id="c", level=1, text="x", evaluator=spec)
    )


def test_declared_answers_are_counted() -> None:
    assert declared(labels=["A", "B", "C"]) == 3
    assert declared(choices=["red", "blue"]) == 2
    assert declared(expected=True) == declared(expected="No") == 2
    assert declared(expected="42") is None
    assert count_declared_answers(None) is None


def estimate(results: list[Result]) -> int:
    outcomes = collect_outcomes(results)
    return estimate_n_answers(outcomes.given, outcomes.keys)


def test_closed_spaces_are_counted_and_open_ones_are_larger_than_seen() -> None:
    closed = [
        Result(llm_id="a", test_id=str(n), score=1.0, got=x)
        for n in range(5)
        for x in ("Yes", "no.")
    ]
    assert estimate(closed) == 2
    numbers = [Result(llm_id="a", test_id=str(n), score=0.0, got=str(n)) for n in range(30)]
    assert estimate(numbers) > 100
    assert estimate([]) == 2
