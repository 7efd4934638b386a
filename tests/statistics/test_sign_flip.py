from itertools import product

import numpy as np
import pytest
from scipy import stats

from poor_bench.statistics.significance import compute_sign_flip_p_values

# Darwin's maize: crossed minus self-fertilised height of 15 pairs, in eighths of an inch; Fisher
# 1935, "The Design of Experiments", section 21, counts 1726 of the 32768 sign patterns.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def p_of(differences: list[float], **options) -> float:
    return float(compute_sign_flip_p_values(np.array([differences]).T, **options)[0])


def count_patterns(values: list[float]) -> float:
    """Count mid p-values by hand: every pattern of signs."""
    signs = np.array(list(product([1, -1], repeat=len(values))))
    sums, seen = np.abs(signs @ np.array(values)), abs(sum(values))
    return float(np.mean(sums > seen + 1e-9) + np.mean(np.abs(sums - seen) <= 1e-9) / 2)


def test_fishers_worked_example_is_counted_exactly() -> None:
    assert p_of(DARWIN, mid=False) == pytest.approx(1726 / 32768)
    assert p_of(DARWIN) == pytest.approx(count_patterns(DARWIN))


def test_sizes_on_no_grid_agree_with_the_count_of_all_patterns() -> None:
    values = np.random.default_rng(5).normal(0.6, 1, 15)
    assert p_of(values.tolist()) == pytest.approx(count_patterns(values.tolist()), rel=0.02)


@pytest.mark.parametrize(("n", "n_better"), [(13, 11), (60, 42), (5000, 2600)])
@pytest.mark.parametrize("size", [1.0, 0.37])
def test_differences_of_one_size_give_the_binomial_test(n: int, n_better: int, size: float) -> None:
    values = [size] * n_better + [-size] * (n - n_better) + [0.0] * 7
    exact = 2 * stats.binom.sf(n_better - 1, n, 0.5)
    assert p_of(values, mid=False) == pytest.approx(exact, rel=1e-6)
    assert p_of(values) == pytest.approx(exact - stats.binom.pmf(n_better, n, 0.5), rel=1e-6)


def test_many_tests_give_the_normal_distribution() -> None:
    values = np.random.default_rng(2).normal(0.02, 0.4, 20_000)
    z = values.sum() / np.sqrt((values**2).sum())
    assert p_of(values.tolist()) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.01)


def test_few_differences_of_various_sizes_are_counted_in_full() -> None:
    assert p_of([0.1, 0.2, 0.3, 0.4, 0.5]) == 2 / 32
    assert p_of([0.5] * 5) == 1 / 32


def test_tests_of_a_group_keep_their_signs_together() -> None:
    values, groups = [0.5, 0.5, 1.0, 1.0, 0.0, 1.0], ["a", "a", None, None, "b", "b"]
    assert p_of(values, groups=groups) == p_of([1.0] * 4)
    with pytest.raises(ValueError, match="5 groups for 6 tests"):
        p_of(values, groups=groups[:5])


def test_no_difference_gives_one() -> None:
    assert p_of([0.0] * 40) == 1.0
    assert p_of([1.0, -1.0] * 40) == 1.0


def test_sign_and_order_do_not_matter() -> None:
    values = [0.5, 1.0, -0.25, 0.75, 0.1]
    assert p_of(values) == p_of([-value for value in values]) == p_of(values[::-1])


def test_columns_are_tested_apart() -> None:
    columns = np.column_stack([DARWIN, np.zeros(15), -np.array(DARWIN)])
    expected = [p_of(DARWIN), 1.0, p_of(DARWIN)]
    assert compute_sign_flip_p_values(columns).tolist() == pytest.approx(expected)
    assert compute_sign_flip_p_values(np.zeros((4, 0))).tolist() == []


def test_a_clear_difference_is_not_held_up_by_rounding() -> None:
    assert p_of([1.0] * 200) < 1e-20


def test_equal_llms_are_called_different_in_five_of_100_cases() -> None:
    rng = np.random.default_rng(8)
    scores = rng.random((40, 2000))
    other = rng.random((40, 2000))
    p_values = compute_sign_flip_p_values(np.round(scores - other, 1))
    assert 0.035 < (p_values < 0.05).mean() < 0.06


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        p_of([float("nan")])
