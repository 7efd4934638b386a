from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.agreement import compute_krippendorff_alpha

RATERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
"""The example of Krippendorff 2011, section E: four raters, twelve items, some not rated."""

items = st.lists(st.lists(st.integers(0, 10), min_size=2, max_size=5), min_size=1, max_size=20)


def test_published_example_has_its_published_alpha() -> None:
    rows = [line.split() for line in RATERS.strip().splitlines()]
    rated = [[float(score) for score in item if score != "."] for item in zip(*rows, strict=True)]
    assert compute_krippendorff_alpha(rated) == pytest.approx(0.849, abs=0.0005)


@given(items)
def test_alpha_is_one_minus_observed_by_expected_disagreement(rated: list[list[int]]) -> None:
    pooled = [score for item in rated for score in item]
    n = len(pooled)
    expected = sum((a - b) ** 2 for a in pooled for b in pooled) / (n * (n - 1))
    observed = sum((a - b) ** 2 / (len(item) - 1) for item in rated for a in item for b in item) / n
    got = compute_krippendorff_alpha(rated)
    if expected == 0:
        assert got is None
    else:
        assert got == pytest.approx(1 - observed / expected, abs=1e-9)


def test_full_agreement_is_one_and_guessing_about_zero() -> None:
    assert compute_krippendorff_alpha([[3, 3], [7, 7, 7]]) == pytest.approx(1.0)
    rng = random.Random(5)
    guessed = [[rng.randint(0, 10), rng.randint(0, 10)] for _ in range(4000)]
    assert compute_krippendorff_alpha(guessed) == pytest.approx(0.0, abs=0.05)


def test_items_that_one_person_rated_count_nothing() -> None:
    assert compute_krippendorff_alpha([[3], [], [7]]) is None
    assert compute_krippendorff_alpha([[1, 2], [5, 5], [9]]) == compute_krippendorff_alpha(
        [[1, 2], [5, 5]]
    )
