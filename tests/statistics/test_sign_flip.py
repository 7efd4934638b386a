import numpy as np
import pytest
from scipy import stats

from poor_bench.statistics.significance import sign_flip_p_values

# Darwin's maize: crossed minus self-fertilised height of 15 pairs, in eighths of an inch; Fisher
# 1935, "The Design of Experiments", section 21, counts 1726 of the 32768 sign patterns.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def p_of(differences: list[float], **options) -> float:
    return float(sign_flip_p_values(np.array([differences]).T, **options)[0])


def test_fishers_worked_example_is_counted_exactly() -> None:
    assert p_of(DARWIN) == 1726 / 32768


@pytest.mark.slow(reason="a long computation")
def test_drawn_patterns_agree_with_the_exact_count() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.6, 1, 17)
    exact = stats.permutation_test(
        (values, np.zeros(17)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    assert p_of(values.tolist(), n_flips=40_000) == pytest.approx(exact, abs=0.004)


def test_no_difference_gives_one() -> None:
    assert p_of([0.0] * 40) == 1.0
    assert p_of([1.0, -1.0] * 40) == 1.0


def test_sign_and_order_do_not_matter() -> None:
    values = [0.5, 1.0, -0.25, 0.75, 0.1]
    assert p_of(values) == p_of([-value for value in values]) == p_of(values[::-1])


def test_columns_are_tested_apart() -> None:
    columns = np.column_stack([DARWIN, np.zeros(15), -np.array(DARWIN)])
    assert sign_flip_p_values(columns).tolist() == [1726 / 32768, 1.0, 1726 / 32768]


def test_a_clear_difference_is_not_held_up_by_the_number_of_patterns() -> None:
    assert p_of([1.0] * 200, n_flips=99) < 1e-20


def test_same_seed_same_figures() -> None:
    values = np.random.default_rng(1).normal(0.2, 1, (60, 3))
    first = sign_flip_p_values(values, n_flips=500, seed=4)
    assert first.tolist() == sign_flip_p_values(values, n_flips=500, seed=4).tolist()


def test_equal_llms_are_called_different_in_five_of_100_cases() -> None:
    rng = np.random.default_rng(8)
    scores = rng.random((40, 2000))
    other = rng.random((40, 2000))
    p_values = sign_flip_p_values(np.round(scores - other, 1), n_flips=999)
    assert 0.035 < (p_values < 0.05).mean() < 0.06


@pytest.mark.parametrize(("values", "n_flips"), [([float("nan")], 9), ([1.0], 0)])
def test_what_cannot_be_tested_is_refused(values: list[float], n_flips: int) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        p_of(values, n_flips=n_flips)
