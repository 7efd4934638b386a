from __future__ import annotations

import random

import pytest

from poor_bench.judge.agreement import ScoredItem, mean_difference, measure_agreement


def item(judge: float, *humans: float, length: int = 100) -> ScoredItem:
    return ScoredItem(judge=judge, humans=humans, length=length)


def test_judge_that_copies_people_agrees_fully() -> None:
    agreement = measure_agreement([item(n, n, length=n * n % 7) for n in range(1, 10)], 5.0)
    assert agreement.kappa == agreement.weighted_kappa == agreement.alpha == pytest.approx(1.0)
    assert agreement.pearson is not None
    assert agreement.pearson.value == pytest.approx(1.0)
    assert agreement.bias is not None
    assert agreement.bias.value == 0.0


def test_kind_judge_ranks_well_and_is_biased() -> None:
    agreement = measure_agreement([item(n + 3, n) for n in range(1, 8)], 8.0)
    assert agreement.spearman is not None
    assert agreement.spearman.value == 1.0
    assert agreement.bias is not None
    assert agreement.bias.low == agreement.bias.value == agreement.bias.high == 3.0
    assert agreement.weighted_kappa is not None
    assert agreement.weighted_kappa < 0.6


def test_judge_that_counts_characters_is_found_out() -> None:
    rng = random.Random(3)
    lengths = [rng.randint(50, 2000) for _ in range(60)]
    items = [item(length / 200, rng.uniform(0, 10), length=length) for length in lengths]
    agreement = measure_agreement(items, 5.0)
    assert agreement.length_bias is not None
    assert agreement.length_bias.low > 0.9


def test_people_among_themselves_are_the_mark_to_reach() -> None:
    items = [item(5, 2, 2), item(5, 7, 8), item(5, 4, 4)]
    agreement = measure_agreement(items, 8.0)
    assert agreement.human_alpha is not None
    assert agreement.human_alpha > 0.9
    assert agreement.alpha is not None
    assert agreement.alpha < agreement.human_alpha


def test_nothing_in_common_gives_no_figures() -> None:
    agreement = measure_agreement([], 8.0)
    assert agreement.n == 0
    assert {agreement.kappa, agreement.alpha, agreement.bias, agreement.spearman} == {None}


def test_one_difference_has_no_interval() -> None:
    assert mean_difference([1.0], [2.0]) is None
