from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.agreement.noise import noise_floor, within_noise
from poor_bench.judge.agreement.spread import spread_of


def test_floor_of_one_group_is_the_repeatability_limit() -> None:
    # Deviation 1 with 2 degrees of freedom: 4.303 * sqrt(2).
    assert noise_floor([[6.0, 7.0, 8.0]]) == pytest.approx(6.085, abs=0.001)


def test_only_distances_within_a_group_count() -> None:
    assert noise_floor([[6, 7], [1, 2]]) == pytest.approx(noise_floor([[6, 7], [9, 8]]))
    assert noise_floor([[5.0], [9.0]]) is None


def test_means_of_more_judgements_are_quieter() -> None:
    groups = [[6.0, 7.0, 8.0, 5.0]]
    single, of_four = noise_floor(groups), noise_floor(groups, n_judgements=4)
    assert single is not None
    assert of_four == pytest.approx(single / 2)


def test_judge_that_repeats_itself_has_no_noise() -> None:
    assert noise_floor([[6.0, 6.0]]) == 0.0
    assert within_noise(0.0, 0.0)
    assert not within_noise(0.1, 0.0)


def test_nothing_is_ruled_out_where_nothing_is_known() -> None:
    assert within_noise(9.0, None)


def test_twins_differ_by_more_than_the_floor_in_5_percent_of_the_comparisons() -> None:
    rng = random.Random(11)
    n_beyond = 0
    for _ in range(4000):
        floor = noise_floor([[rng.gauss(6, 1) for _ in range(5)]])
        n_beyond += not within_noise(rng.gauss(6, 1) - rng.gauss(6, 1), floor)
    assert n_beyond / 4000 == pytest.approx(0.05, abs=0.01)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20))
def test_spread_encloses_its_mean(scores: list[float]) -> None:
    spread = spread_of(scores)
    assert spread.low - 1e-9 <= spread.mean <= spread.high + 1e-9
    assert spread.n == len(scores)
    assert (spread.sd is None) == (len(scores) == 1)
