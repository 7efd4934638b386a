from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from poor_bench.judge.agreement import compute_weighted_kappa
from poor_bench.statistics.agreement import measure_rater_agreement, run_annotator_test


def draw(n: int, readers: int, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Draw true qualities, and readers' scores by item."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(5, 2, n)
    return quality, quality[:, None] + rng.normal(0, noise, (n, readers))


def test_agreement_with_one_person_is_the_weighted_kappa() -> None:
    quality, people = draw(40, 1, 1.0)
    found = measure_rater_agreement(quality, people)
    assert found.judge is not None
    expected = compute_weighted_kappa(list(quality), list(people[:, 0]))
    assert found.judge.value == pytest.approx(expected)
    assert found.judge.low < found.judge.value < found.judge.high
    assert found.person is None


def test_each_person_is_left_out_in_turn() -> None:
    quality, people = draw(40, 3, 1.0)
    found = measure_rater_agreement(quality, people)
    rests = [np.delete(people, person, axis=1).mean(axis=1) for person in range(3)]
    judged = [compute_weighted_kappa(list(quality), list(rest)) for rest in rests]
    among = [
        compute_weighted_kappa(list(people[:, person]), list(rest))
        for person, rest in enumerate(rests)
    ]
    assert found.judge is not None
    assert found.person is not None
    assert found.judge.value == pytest.approx(np.mean(judged))
    assert found.person.value == pytest.approx(np.mean(among))


def test_scores_that_are_missing_or_alike_are_no_agreement() -> None:
    assert measure_rater_agreement([1, 2, 3], [[1], [2], [3]]).judge is None
    assert measure_rater_agreement([4] * 9, [[4.0]] * 9).judge is None
    people = np.full((9, 2), np.nan)
    people[:, 0] = range(9)
    found = measure_rater_agreement(range(9), people)
    assert found.judge is not None
    assert found.judge.value == 1.0
    assert found.person is None


def test_annotator_test_is_a_t_test_of_the_margins() -> None:
    quality, people = draw(60, 2, 1.0)
    found = run_annotator_test(quality, people)
    assert found is not None
    margins = [
        np.sign(
            abs(quality - people[:, 1 - person]) - abs(people[:, person] - people[:, 1 - person])
        )
        for person in range(2)
    ]
    p_values = sorted(
        stats.ttest_1samp(margin, 0.2, alternative="less").pvalue for margin in margins
    )
    rejected = stats.false_discovery_control(p_values, method="by") <= 0.05
    assert found.winning_rate == pytest.approx(np.mean(rejected))
    assert (found.n_people, found.n, found.losing_rate) == (2, 60, 0.0)


def test_unrelated_judge_loses_against_people_who_agree() -> None:
    quality, people = draw(60, 10, 0.5)
    unrelated = np.random.default_rng(9).permutation(quality)
    found = run_annotator_test(unrelated, people)
    assert found is not None
    assert (found.winning_rate, found.losing_rate) == (0.0, 1.0)


def test_people_who_share_few_items_are_no_annotators() -> None:
    quality, people = draw(19, 3, 1.0)
    assert run_annotator_test(quality, people) is None


def test_copies_of_an_item_in_its_group_tell_nothing_new() -> None:
    quality, people = draw(30, 3, 1.0)
    judge = quality + np.random.default_rng(2).normal(0, 1, 30)
    groups = [str(place // 4) for place in range(120)]
    copied = np.repeat(judge, 4), np.repeat(people, 4, axis=0)
    once, grouped = measure_rater_agreement(judge, people), measure_rater_agreement(*copied, groups)
    assert once.judge is not None
    assert grouped.judge is not None
    assert grouped.judge.low == pytest.approx(once.judge.low)
    assert (grouped.judge.n, grouped.judge.n_tests) == (30, 120)
    rates = [
        test.winning_rate if test else None
        for test in (
            run_annotator_test(judge, people),
            run_annotator_test(*copied, groups),
            run_annotator_test(*copied),
        )
    ]
    assert rates[0] == rates[1] != rates[2]
