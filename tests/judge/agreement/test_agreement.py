from __future__ import annotations

import random

import pytest

from poor_bench.judge.agreement import (
    ScoredItem,
    Trust,
    estimate_mean_difference,
    measure_agreement,
)


def item(judge: float, *humans: float, length: int = 100) -> ScoredItem:
    named = {f"person {number}": score for number, score in enumerate(humans)}
    return ScoredItem(judge=judge, humans=named, length=length)


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


def test_judge_that_counts_characters_adds_points_to_long_answers() -> None:
    rng = random.Random(3)
    items = []
    for _ in range(60):
        doublings, quality = rng.uniform(5, 10), rng.uniform(2, 8)
        judge = quality + doublings - 7.5
        humans = (quality + rng.gauss(0, 0.5), quality + rng.gauss(0, 0.5))
        items.append(item(judge, *humans, length=round(2**doublings)))
    bias = measure_agreement(items, 5.0).length_bias
    assert bias is not None
    assert bias.low > 0.8
    assert bias.high < 1.2


@pytest.mark.parametrize("readers", [1, 2, 3, 10])
def test_unrelated_judge_is_not_blessed_by_unanimous_people(readers: int) -> None:
    rng = random.Random(4)
    items = [item(rng.randint(0, 10), *[rng.randint(0, 10)] * readers) for _ in range(100)]
    agreement = measure_agreement(items, 8.0)
    assert agreement.trust is Trust.NO
    assert agreement.alpha is not None
    assert agreement.alpha < 0.3


@pytest.mark.slow(reason="draws thousands of samples")
@pytest.mark.parametrize("readers", [1, 2, 3, 10])
def test_judge_as_good_as_a_reader_is_recognised(readers: int) -> None:
    rng = random.Random(5)
    items = []
    for _ in range(300):
        quality = rng.gauss(5, 2)
        items.append(item(*(quality + rng.gauss(0, 0.7) for _ in range(readers + 1))))
    assert measure_agreement(items, 8.0).trust is Trust.YES


def test_judge_that_guesses_where_people_guess_is_not_blessed() -> None:
    rng = random.Random(6)
    items = [item(*(rng.randint(0, 10) for _ in range(4))) for _ in range(400)]
    agreement = measure_agreement(items, 8.0)
    assert agreement.annotator_test is not None
    assert agreement.annotator_test.winning_rate == 1.0
    assert agreement.trust is Trust.UNKNOWN


def test_few_labels_give_no_verdict() -> None:
    items = [item(n % 9, n % 9, n % 9) for n in range(19)]
    assert measure_agreement(items, 8.0).trust is Trust.UNKNOWN


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
    assert estimate_mean_difference([1.0], [2.0]) is None


def test_items_of_one_group_give_one_difference() -> None:
    first, second = [7.0, 7.0, 8.0, 8.0], [6.0] * 4
    found = estimate_mean_difference(first, second, ["a", "a", "b", "b"])
    pairs = estimate_mean_difference([7.0, 8.0], [6.0, 6.0])
    assert found is not None
    assert pairs is not None
    assert (found.value, found.low, found.high) == (pairs.value, pairs.low, pairs.high)
    assert (found.n, found.n_tests) == (2, 4)
    assert estimate_mean_difference(first, second, ["a"] * 4) is None
