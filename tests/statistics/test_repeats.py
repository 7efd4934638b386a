from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.repeats import flip_rate, pass_at_k, pass_hat_k

counts = st.integers(2, 9).flatmap(
    lambda trials: st.tuples(st.integers(0, trials), st.just(trials), st.integers(1, trials))
)


def share_of_draws(successes: int, trials: int, k: int, holds: Callable[[list], bool]) -> float:
    outcomes = [True] * successes + [False] * (trials - successes)
    draws = list(combinations(outcomes, k))
    return sum(holds(draw) for draw in draws) / len(draws)


@given(counts)
def test_estimates_are_the_share_of_all_draws_of_k_trials(numbers: tuple[int, int, int]) -> None:
    successes, trials, _k = numbers
    assert pass_at_k(*numbers) == pytest.approx(share_of_draws(*numbers, any))
    assert pass_hat_k(*numbers) == pytest.approx(share_of_draws(*numbers, all))
    differ = share_of_draws(successes, trials, 2, lambda draw: draw[0] != draw[1])
    assert flip_rate(successes, trials) == pytest.approx(differ)


@given(counts)
def test_one_trial_gives_the_pass_rate(numbers: tuple[int, int, int]) -> None:
    successes, trials, _ = numbers
    assert pass_at_k(successes, trials, 1) == pytest.approx(successes / trials)
    assert pass_hat_k(successes, trials, 1) == pytest.approx(successes / trials)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize("numbers", [(-1, 3, 1), (4, 3, 1), (1, 3, 0), (1, 3, 4)])
def test_numbers_out_of_range_are_refused(estimate: Callable, numbers: tuple) -> None:
    with pytest.raises(ValueError, match="must be"):
        estimate(*numbers)


def test_a_single_trial_cannot_flip() -> None:
    with pytest.raises(ValueError, match="must be"):
        flip_rate(1, 1)
