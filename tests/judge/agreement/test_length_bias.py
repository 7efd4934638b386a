from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from poor_bench.judge.agreement import partial_rank_correlation


def left_over(values: list[float], given: list[float]) -> np.ndarray:
    """Return the ranks of `values` minus what a line through the ranks of `given` predicts."""
    ranks, by = stats.rankdata(values), stats.rankdata(given)
    fit = stats.linregress(by, ranks)
    return ranks - fit.intercept - fit.slope * by


def drawn(n: int, seed: int) -> tuple[list[float], list[float], list[float]]:
    rng = random.Random(seed)
    people = [rng.uniform(0, 10) for _ in range(n)]
    lengths = [rng.uniform(0, 500) + 20 * score for score in people]
    judge = [
        score + length / 100 + rng.gauss(0, 1)
        for score, length in zip(people, lengths, strict=True)
    ]
    return judge, lengths, people


def test_it_is_the_correlation_of_what_the_third_does_not_explain() -> None:
    judge, lengths, people = drawn(40, seed=1)
    expected = np.corrcoef(left_over(judge, people), left_over(lengths, people))[0, 1]
    estimate = partial_rank_correlation(judge, lengths, people)
    assert estimate is not None
    assert estimate.value == pytest.approx(expected, abs=1e-9)
    assert estimate.low < estimate.value < estimate.high
    assert estimate.low > 0.3


def test_people_who_like_length_too_explain_a_correlation_away() -> None:
    rng = random.Random(2)
    people = [rng.uniform(0, 10) for _ in range(300)]
    lengths = [score * 50 + rng.uniform(0, 100) for score in people]
    judge = [score + rng.gauss(0, 0.5) for score in people]
    estimate = partial_rank_correlation(judge, lengths, people)
    assert estimate is not None
    assert estimate.low < 0 < estimate.high


def test_too_little_to_tell_is_said() -> None:
    assert partial_rank_correlation([1, 2, 3, 4], [1, 3, 2, 4], [4, 2, 3, 1]) is None
    assert partial_rank_correlation([1, 1, 1, 1, 1], [1, 2, 3, 4, 5], [5, 3, 4, 1, 2]) is None
    assert partial_rank_correlation([1, 2, 3, 4, 5], [2, 1, 3, 5, 4], [1, 2, 3, 4, 5]) is None
