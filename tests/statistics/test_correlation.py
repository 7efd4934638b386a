import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poor_bench.statistics.correlations import (
    correlate_grouped,
    correlate_ranks,
    correlate_rows,
    rank_values,
)

numbers = st.floats(-1e3, 1e3)


@given(st.lists(st.tuples(numbers, numbers), min_size=4, max_size=30))
def test_value_stays_in_its_interval(pairs: list[tuple[float, float]]) -> None:
    x, y = zip(*pairs, strict=True)
    for estimate in (*correlate_rows([x], [y]), correlate_ranks(x, y)):
        if estimate is not None:
            assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_values_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(5, 20)), rng.integers(0, 4, (5, 20)).astype(float)
    for row, estimate in enumerate(correlate_rows(x, y)):
        interval = stats.pearsonr(x[row], y[row]).confidence_interval(0.95)
        assert estimate.value == pytest.approx(stats.pearsonr(x[row], y[row]).statistic)
        assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high))
    assert correlate_ranks(x[0], y[0]).value == pytest.approx(stats.spearmanr(x[0], y[0])[0])


@given(st.lists(st.floats(-2, 2) | st.integers(-2, 2), max_size=30))
def test_ranks_are_those_of_scipy(values: list[float]) -> None:
    assert rank_values(values).tolist() == stats.rankdata(values).tolist()


def test_missing_numbers_leave_their_pair_out() -> None:
    nan = float("nan")
    [complete] = correlate_rows([[1, 2, 3, 4]], [[1, 3, 2, 4]])
    [gapped] = correlate_rows([[1, 2, nan, 3, 4, 9]], [[1, 3, 5, 2, 4, nan]])
    assert gapped == complete


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2, 3]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [5, 5, 5, 5])]
)
def test_too_little_to_go_by_is_no_correlation(x: list[float], y: list[float]) -> None:
    assert correlate_rows([x], [y]) == [None]
    assert correlate_ranks(x, y) is None


@pytest.mark.slow(reason="simulates thousands of samples")
def test_rank_interval_covers_the_truth_in_about_95_of_100_samples() -> None:
    rng = np.random.default_rng(2)
    rho = 6 / np.pi * np.arcsin(0.6 / 2)
    covered = 0
    for _ in range(1000):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 40).T
        estimate = correlate_ranks(x, y)
        covered += estimate.low <= rho <= estimate.high
    assert 0.93 <= covered / 1000 <= 0.98


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ"):
        correlate_ranks([1, 2, 3, 4], [1, 2, 3])


def test_copies_of_an_item_in_its_group_do_not_narrow_the_interval() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 30))
    groups = [str(place // 4) for place in range(120)]
    copied = np.repeat(x, 4), np.repeat(y, 4)
    for correlate in (correlate_grouped, correlate_ranks):
        once, grouped = correlate(x, y, None), correlate(*copied, groups)
        assert grouped.value == pytest.approx(once.value)
        assert 0.85 < grouped.margin / once.margin < 1.25
        assert grouped.margin > 1.5 * correlate(*copied, None).margin
    assert correlate_grouped(x[:6], y[:6], ["a", "a", "a", "b", "b", "c"]) is None
