from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.intervals import mid_p_interval
from poor_bench.statistics.means import mean_score

scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)
Draw = Callable[[np.random.Generator, int], np.ndarray]


@given(scores)
def test_interval_holds_the_mean_and_stays_in_range(values: list[float]) -> None:
    estimate = mean_score(values)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.n == len(values)


@given(scores, st.randoms())
def test_order_does_not_matter(values: list[float], random) -> None:
    shuffled = random.sample(values, len(values))
    assert mean_score(shuffled) == mean_score(values)


@given(st.integers(0, 30), st.integers(1, 30))
def test_passed_or_not_gives_the_exact_interval(passed: int, failed: int) -> None:
    estimate = mean_score([1.0] * passed + [0.0] * failed)
    assert (estimate.low, estimate.high) == mid_p_interval(passed, passed + failed)


def test_equal_scores_do_not_promise_certainty() -> None:
    estimate = mean_score([0.5] * 10)
    assert estimate.low < 0.4
    assert estimate.high > 0.6


def test_few_low_scores_leave_room_for_a_high_one_that_was_not_seen() -> None:
    scores = [0.02, 0.03, 0.01, 0.04, 0.0] * 2
    assert mean_score(scores).high > 0.25
    assert mean_score(scores * 4).high < 0.04


def test_large_samples_agree_with_the_textbook_interval() -> None:
    values = np.random.default_rng(1).beta(8, 2, 5000)
    half = 1.96 * values.std(ddof=1) / np.sqrt(values.size)
    estimate = mean_score(values.tolist())
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.01)


@pytest.mark.slow(reason="simulates thousands of samples")
@pytest.mark.parametrize("n", [5, 10, 30, 100])
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        pytest.param(lambda rng, n: rng.binomial(1, 0.9, n), 0.9, id="passed-or-not"),
        pytest.param(lambda rng, n: rng.beta(8, 2, n), 0.8, id="graded"),
        pytest.param(lambda rng, n: rng.beta(0.5, 0.5, n), 0.5, id="all-or-nothing"),
        pytest.param(
            lambda rng, n: rng.binomial(5, rng.beta(1, 0.25, n)) / 5, 0.8, id="five-trials-a-test"
        ),
    ],
)
def test_interval_covers_the_truth_in_about_95_of_100_samples(
    draw: Draw, truth: float, n: int
) -> None:
    rng = np.random.default_rng(20)
    estimates = [mean_score(draw(rng, n).tolist()) for _ in range(1000)]
    covered = sum(estimate.low <= truth <= estimate.high for estimate in estimates)
    assert covered / 1000 >= 0.93
    assert n < 30 or covered / 1000 <= 0.985


@pytest.mark.parametrize("values", [[], [1.2], [-0.1], [float("nan")]])
def test_values_out_of_range_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="score"):
        mean_score(values)
