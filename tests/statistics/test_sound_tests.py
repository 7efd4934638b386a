from itertools import product

import numpy as np
import pytest

from poor_bench.statistics.outcomes import PASSED
from poor_bench.statistics.sound_tests import (
    AnswerSpace,
    SoundTests,
    draw_sound_tests,
    find_patterns,
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
