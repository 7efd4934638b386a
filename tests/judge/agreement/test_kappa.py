from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.agreement import compute_cohen_kappa, compute_weighted_kappa

scores = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=30)


def from_table(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return two raters' categories from a table of counts: rows are the first rater's."""
    pairs = [
        (row, column)
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return [first for first, _ in pairs], [second for _, second in pairs]


def test_kappa_of_a_table_worked_by_hand() -> None:
    # observed (20 + 15) / 50 = 0.7; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5
    assert compute_cohen_kappa(*from_table([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_kappa_punishes_unequal_margins() -> None:
    # Both agree in 60 of 100; chance explains 0.54 of the first and 0.46 of the second.
    assert compute_cohen_kappa(*from_table([[45, 15], [25, 15]])) == pytest.approx(0.06 / 0.46)
    assert compute_cohen_kappa(*from_table([[25, 35], [5, 35]])) == pytest.approx(0.14 / 0.54)


def test_one_category_alone_says_nothing() -> None:
    assert compute_cohen_kappa(["yes", "yes"], ["yes", "yes"]) is None
    assert compute_weighted_kappa([5, 5], [5, 5]) is None


@given(scores)
def test_weighted_kappa_is_that_of_the_table_of_squared_weights(
    pairs: list[tuple[int, int]],
) -> None:
    first, second = zip(*pairs, strict=True)
    observed = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    expected = sum((a - b) ** 2 for a in first for b in second) / len(pairs) ** 2
    got = compute_weighted_kappa(first, second)
    if expected == 0:
        assert got is None
    else:
        assert got == pytest.approx(1 - observed / expected, abs=1e-9)


@given(scores)
def test_order_of_raters_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    assert compute_cohen_kappa(first, second) == compute_cohen_kappa(second, first)
    assert compute_weighted_kappa(first, second) == compute_weighted_kappa(second, first)


@pytest.mark.parametrize("raters", [([], []), ([1], [1, 2])])
def test_raters_of_different_items_are_refused(raters: tuple[list[int], list[int]]) -> None:
    with pytest.raises(ValueError, match="same items"):
        compute_cohen_kappa(*raters)
    with pytest.raises(ValueError, match="same items"):
        compute_weighted_kappa(*raters)
