import numpy as np
import pytest

from poor_bench.statistics.exchange import exchange_p_value
from poor_bench.statistics.significance import sign_flip_p_values


def test_single_trials_agree_with_sign_flips() -> None:
    before, after = [[1.0]] * 6 + [[0.0]], [[0.0]] * 6 + [[0.0]]
    [expected] = sign_flip_p_values([[-1.0]] * 6 + [[0.0]])
    assert exchange_p_value(after, before) == pytest.approx(expected, abs=0.005)


def test_a_fall_among_tests_that_agree_is_seen_better_than_by_sign_flips() -> None:
    before = [[1.0]] * 20
    after = [[0.0, 0.0, 0.0]] * 4 + [[1.0, 1.0, 1.0]] * 16
    [flips] = sign_flip_p_values([[-1.0]] * 4 + [[0.0]] * 16)
    assert exchange_p_value(after, before) < 0.01 < flips


def test_equal_scores_are_no_change() -> None:
    assert exchange_p_value([[1.0, 0.0]], [[0.0, 1.0]]) > 0.6


def test_unchanged_tests_are_called_changed_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(4)
    chance = rng.beta(1.3, 0.5, (30, 1))
    found = 0
    for seed in range(60):
        drawn = (rng.random((30, 4)) < chance).astype(float)
        found += exchange_p_value(drawn[:, :1].tolist(), drawn[:, 1:].tolist(), seed=seed) < 0.1
    assert found <= 12
