import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.differences import bootstrap_interval, estimate_paired_difference
from poor_bench.statistics.means import mean_score

differences = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


@given(differences)
def test_interval_holds_the_mean_and_stays_in_range(values: list[float]) -> None:
    estimate = estimate_paired_difference(values)
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


@given(differences)
def test_interval_mirrors_with_the_sides(values: list[float]) -> None:
    estimate, mirrored = (
        estimate_paired_difference(values),
        estimate_paired_difference([-value for value in values]),
    )
    assert (estimate.low, estimate.high) == pytest.approx((-mirrored.high, -mirrored.low))


def test_identical_scores_do_not_claim_that_llms_are_the_same() -> None:
    estimate = estimate_paired_difference([0.0] * 10)
    assert estimate.value == 0.0
    assert estimate.low < -0.2
    assert estimate.high > 0.2


@pytest.mark.slow(reason="simulates thousands of samples")
@pytest.mark.parametrize("n", [6, 12, 30, 100])
@pytest.mark.parametrize("chances", [(0.9, 0.9), (0.95, 0.9), (0.8, 0.5), (0.5, 0.5)])
def test_interval_covers_the_truth_in_95_of_100_samples_or_more(
    chances: tuple[float, float], n: int
) -> None:
    rng = np.random.default_rng(12)
    covered = 0
    for _ in range(1000):
        ability = rng.random(n)
        scores = [(0.5 * ability + 0.5 * rng.random(n) < _mark(chance)) * 1.0 for chance in chances]
        estimate = estimate_paired_difference((scores[0] - scores[1]).tolist())
        covered += estimate.low <= chances[0] - chances[1] <= estimate.high
    assert covered / 1000 >= 0.93


def _mark(chance: float) -> float:
    """Return below what the mean of two uniform numbers lies with this chance, `chance >= 0.5`."""
    return float(1 - np.sqrt((1 - chance) / 2))


@pytest.mark.parametrize("values", [[], [1.5], [float("nan")]])
def test_values_out_of_range_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one difference"):
        estimate_paired_difference(values)


@pytest.mark.slow(reason="draws thousands of samples")
def test_bootstrap_and_adjusted_interval_agree_on_many_tests() -> None:
    values = np.random.default_rng(2).choice([-1.0, 0.0, 0.5, 1.0], 2000)
    adjusted, drawn = (
        estimate_paired_difference(values.tolist()),
        bootstrap_interval(values.tolist()),
    )
    assert (drawn.low, drawn.high) == pytest.approx((adjusted.low, adjusted.high), abs=0.004)


def test_bootstrap_repeats_itself_and_copes_with_equal_values() -> None:
    values = [0.1, 0.5, -0.2, 0.0, 0.3, 0.9]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval([0.5] * 4).margin == 0.0


def test_bootstrap_needs_a_difference() -> None:
    with pytest.raises(ValueError, match="at least one difference"):
        bootstrap_interval([])


def test_many_differences_of_one_sign_rule_out_the_other_as_scores_do() -> None:
    differences = [1.0] * 12 + [0.0] * 88
    found, scores = estimate_paired_difference(differences), mean_score(differences)
    assert found.low == pytest.approx(scores.low)


def test_few_differences_of_one_sign_rule_out_less_however_many_tests_are_equal() -> None:
    differences = [1.0] * 6 + [0.0] * 94
    found, scores = estimate_paired_difference(differences), mean_score(differences)
    assert 0 < found.low < 0.9 * scores.low


def test_three_wins_do_not_tell_the_sign() -> None:
    assert estimate_paired_difference([1.0] * 3 + [0.0] * 97).low < 0
