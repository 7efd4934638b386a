import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poor_bench.statistics.intervals import TAIL, mid_p_interval


@given(st.integers(0, 60), st.integers(1, 60))
def test_limits_have_the_stated_tails(successes: int, n: int) -> None:
    successes = min(successes, n)
    low, high = mid_p_interval(successes, n)
    half = stats.binom.pmf(successes, n, [low, high]) / 2
    if successes > 0:
        assert stats.binom.sf(successes, n, low) + half[0] == pytest.approx(TAIL, rel=1e-6)
    if successes < n:
        assert stats.binom.cdf(successes - 1, n, high) + half[1] == pytest.approx(TAIL, rel=1e-6)


@pytest.mark.parametrize("n", [5, 10, 13, 30, 100])
def test_every_share_is_covered_in_93_of_100_samples(n: int) -> None:
    shares = np.linspace(0.002, 0.998, 499)
    limits = np.array([mid_p_interval(k, n) for k in range(n + 1)])
    held = (limits[:, :1] <= shares) & (shares <= limits[:, 1:])
    chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, shares)
    assert (chances * held).sum(axis=0).min() >= 0.93


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="observations"):
        mid_p_interval(successes, n)
