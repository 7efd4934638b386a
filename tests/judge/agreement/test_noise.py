from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.panel import compute_spread, estimate_noise_floor, is_within_noise


def test_floor_of_one_group_is_the_repeatability_limit_with_one_repeat_more() -> None:
    # Deviation 1 with 2 degrees of freedom, and 1 with the added one: 3.182 * sqrt(2).
    assert estimate_noise_floor([[6.0, 7.0, 8.0]]) == pytest.approx(4.495, abs=0.001)


def test_only_distances_within_a_group_count() -> None:
    assert estimate_noise_floor([[6, 7], [1, 2]]) == pytest.approx(
        estimate_noise_floor([[6, 7], [9, 8]])
    )
    assert estimate_noise_floor([[5.0], [9.0]]) is None


def test_means_of_more_judgements_are_quieter() -> None:
    groups = [[6.0, 7.0, 8.0, 5.0]]
    single, of_four = estimate_noise_floor(groups), estimate_noise_floor(groups, n_judgements=4)
    assert single is not None
    assert of_four == pytest.approx(single / 2)


def test_two_equal_scores_do_not_show_a_judge_without_noise() -> None:
    assert is_within_noise(1.0, estimate_noise_floor([[6.0, 6.0]]))
    assert not is_within_noise(1.0, estimate_noise_floor([[6.0] * 12]))


def test_nothing_is_ruled_out_where_nothing_is_known() -> None:
    assert is_within_noise(9.0, None)


def share_of_twins_beyond(deviation: float, n_repeats: int) -> float:
    """Return how often a judge of whole numbers differs from itself by more than its floor."""
    rng = random.Random(11)
    n_beyond = 0
    for _ in range(3000):
        floor = estimate_noise_floor([[round(rng.gauss(6, deviation)) for _ in range(n_repeats)]])
        difference = round(rng.gauss(6, deviation)) - round(rng.gauss(6, deviation))
        n_beyond += not is_within_noise(difference, floor)
    return n_beyond / 3000


@pytest.mark.slow(reason="a long computation")
@pytest.mark.parametrize("deviation", [0.3, 0.8, 2.0])
@pytest.mark.parametrize("n_repeats", [2, 3, 5, 10])
def test_twins_seldom_differ_by_more_than_the_floor(deviation: float, n_repeats: int) -> None:
    assert share_of_twins_beyond(deviation, n_repeats) <= 0.08


def test_the_floor_is_no_higher_than_it_must_be_where_repeats_are_many() -> None:
    assert share_of_twins_beyond(2.0, 20) == pytest.approx(0.05, abs=0.015)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20))
def test_spread_encloses_its_mean(scores: list[float]) -> None:
    spread = compute_spread(scores)
    assert spread.low - 1e-9 <= spread.mean <= spread.high + 1e-9
    assert spread.n == len(scores)
    assert (spread.sd is None) == (len(scores) == 1)
