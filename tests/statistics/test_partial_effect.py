from __future__ import annotations

import numpy as np
import pytest

from poor_bench.statistics.partial_effect import estimate_partial_effect

N = 400


def draw(effect: float, readers: int = 2, seed: int = 1) -> tuple[np.ndarray, ...]:
    """Draw judge, lengths and readers: long answers are better, the judge's scale is narrow."""
    rng = np.random.default_rng(seed)
    length = rng.normal(0, 1, N)
    quality = 1.2 * length + rng.normal(0, 1.6, N)
    people = quality[:, None] + np.arange(readers) + rng.normal(0, 1.5, (N, readers))
    judge = 0.7 * quality + effect * length + rng.normal(0, 0.7, N)
    return judge, length, people


@pytest.mark.parametrize("readers", [1, 2, 3])
def test_quality_that_noisy_readers_missed_is_not_blamed_on_length(readers: int) -> None:
    judge, length, people = draw(0.0, readers)
    found = estimate_partial_effect(judge, length, people)
    assert found is not None
    assert found.low < 0 < found.high
    design = np.stack([np.ones(N), length, people.mean(axis=1)], axis=1)
    naive = np.linalg.lstsq(design, judge, rcond=None)[0][1]
    assert naive > 0.15


@pytest.mark.parametrize("readers", [1, 2, 3])
def test_judge_that_likes_length_is_found_out(readers: int) -> None:
    found = estimate_partial_effect(*draw(1.0, readers))
    assert found is not None
    assert 0 < found.low < 1 < found.high


def test_a_reader_more_gives_a_narrower_interval() -> None:
    margins = [estimate_partial_effect(*draw(0.5, readers)) for readers in (1, 2, 3)]
    found = [item.margin for item in margins if item is not None]
    assert found == sorted(found, reverse=True)
    assert len(found) == 3


def test_scores_that_may_be_missing_are_enough() -> None:
    judge, length, people = draw(1.0, 3)
    people[::2, 1:] = np.nan
    found = estimate_partial_effect(judge, length, people)
    assert found is not None
    assert found.low < 1 < found.high


def test_too_little_to_tell_is_said() -> None:
    judge, length, people = draw(1.0)
    assert estimate_partial_effect(judge[:19], length[:19], people[:19]) is None
    assert estimate_partial_effect(judge, np.ones(N), people) is None
    unrelated = np.random.default_rng(5).normal(0, 1, (N, 1))
    assert estimate_partial_effect(length, length, unrelated) is None


def test_a_few_very_long_answers_do_not_accuse_an_unbiased_judge() -> None:
    rng, accused = np.random.default_rng(1), 0
    for _ in range(300):
        length, quality = np.exp(1.2 * rng.normal(0, 1, 40)), rng.normal(0, 2, 40)
        people = quality[:, None] + rng.normal(0, 0.7, (40, 3))
        found = estimate_partial_effect(quality + rng.normal(0, 0.7, 40), length, people)
        assert found is not None
        accused += not found.low <= 0 <= found.high
    assert accused <= 15


@pytest.mark.parametrize("readers", [1, 2])
def test_copies_of_an_item_in_its_group_do_not_narrow_the_effect(readers: int) -> None:
    judge, length, people = (part[:60] for part in draw(0.5, readers))
    groups = [str(place // 4) for place in range(240)]
    copied = [np.repeat(part, 4, axis=0) for part in (judge, length, people)]
    once, grouped = (
        estimate_partial_effect(judge, length, people),
        estimate_partial_effect(*copied, groups),
    )
    assert once is not None
    assert grouped is not None
    assert 0.8 < grouped.margin / once.margin < 1.25
    assert (grouped.n, grouped.n_tests) == (60, 240)
    assert estimate_partial_effect(*copied, [str(place // 60) for place in range(240)]) is None
