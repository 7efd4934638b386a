from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.intervals import t_quantile_95, wilson_interval
from poor_bench.statistics.prediction_powered import (
    compute_chances,
    compute_sizes,
    estimate_corrected_mean,
    order_by_chance,
)


def test_good_predictions_narrow_the_interval_and_are_corrected() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(6, 2, 300)
    judge = truth + 2 + rng.normal(0, 0.5, 300)
    labels = np.where(np.arange(300) < 30, truth, np.nan)
    corrected = estimate_corrected_mean(judge, labels)
    alone = estimate_corrected_mean(np.zeros(30), labels[:30])
    assert corrected is not None
    assert alone is not None
    assert corrected.low < truth.mean() < corrected.high
    assert corrected.margin < alone.margin / 2
    assert corrected.n == 30


def test_constant_predictions_leave_the_labels_alone() -> None:
    labels = [1.0, 2.0, 4.0, 6.0, 9.0, 3.0]
    found = estimate_corrected_mean([5.0] * 6, labels)
    assert found is not None
    assert found.value == pytest.approx(np.mean(labels))


def test_coverage_with_few_labels() -> None:
    rng, hits = np.random.default_rng(2), 0
    for _ in range(600):
        truth = rng.normal(6, 2, 100)
        labels = np.where(np.arange(100) < 10, truth, np.nan)
        found = estimate_corrected_mean(truth + rng.normal(0, 1, 100), labels)
        assert found is not None
        hits += found.low <= 6 <= found.high
    assert 0.93 < hits / 600 < 0.99


def test_drawing_uncertain_items_is_not_biased() -> None:
    rng, errors = np.random.default_rng(3), []
    for _ in range(400):
        truth = rng.normal(6, 2, 200)
        is_hard = np.arange(200) < 40
        judge = truth + np.where(is_hard, 3 + rng.normal(0, 3, 200), rng.normal(0, 0.3, 200))
        sizes = np.where(is_hard, 6.0, 1.0)
        labels, drawn = np.full(200, np.nan), order_by_chance(sizes, rng.random(200))[:40]
        labels[drawn] = truth[drawn]
        found = estimate_corrected_mean(judge, labels, compute_chances(sizes, 40))
        assert found is not None
        errors.append(found.value - truth.mean())
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(400)


def test_labels_that_fit_exactly_do_not_promise_certainty() -> None:
    found = estimate_corrected_mean([5.0] * 9, [6.0] * 6 + [math.nan] * 3, imagined_error=1.0)
    assert found is not None
    assert found.low < 5.7
    assert found.high > 6.3


def test_few_labels_give_no_mean() -> None:
    assert estimate_corrected_mean([1, 2, 3, 4, 5], [1, 2, 3, 4, math.nan]) is None


@given(
    st.lists(st.floats(0.01, 100), min_size=1, max_size=30).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.integers(0, len(sizes)))
    )
)
def test_chances_add_up_and_grow_with_size(case: tuple[list[float], int]) -> None:
    sizes, n = case
    chances = compute_chances(sizes, n)
    assert chances.sum() == pytest.approx(n)
    assert ((chances >= 0) & (chances <= 1)).all()
    ordered = chances[np.argsort(sizes, kind="stable")]
    assert (np.diff(ordered) >= -1e-9).all()


def test_items_are_drawn_about_as_often_as_their_chance() -> None:
    rng = np.random.default_rng(4)
    sizes = np.repeat([1.0, 2.0, 4.0], 10)
    drawn = np.zeros(30)
    for _ in range(4000):
        drawn[order_by_chance(sizes, rng.random(30))[:6]] += 1
    assert drawn / 4000 == pytest.approx(compute_chances(sizes, 6), abs=0.03)


def test_more_items_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="from 0 to 2"):
        compute_chances([1.0, 1.0], 3)


def test_labels_all_alike_do_not_rule_out_what_so_few_may_have_missed() -> None:
    labels = [10.0] * 10 + [math.nan] * 90
    found = estimate_corrected_mean([9.0] * 100, labels, imagined_error=0.5, bounds=(0.0, 10.0))
    assert found is not None
    assert (found.value, found.high) == (10.0, pytest.approx(10.1, abs=0.2))
    assert found.low < 7.5
    many = estimate_corrected_mean([9.0] * 200, [10.0] * 200, bounds=(0.0, 10.0))
    assert many is not None
    assert many.low > 9.8


def test_rare_low_labels_are_covered() -> None:
    rng, hits = np.random.default_rng(4), 0
    for _ in range(400):
        truth = np.where(rng.random(100) < 0.9, 10.0, 0.0)
        labels = np.where(np.arange(100) < 10, truth, np.nan)
        found = estimate_corrected_mean(
            2 + 0.6 * truth + rng.normal(0, 1, 100), labels, bounds=(0.0, 10.0)
        )
        assert found is not None
        hits += found.low <= 9 <= found.high
    assert hits / 400 > 0.93


def test_many_predictions_known_well_need_no_wider_quantile() -> None:
    rng, hits = np.random.default_rng(5), 0
    for _ in range(2000):
        truth = rng.normal(6, 2, 60)
        labels = np.where(np.arange(60) < 10, truth, np.nan)
        found = estimate_corrected_mean(truth + rng.normal(0, 0.5, 60), labels)
        assert found is not None
        hits += found.low <= 6 <= found.high
    assert 0.94 < hits / 2000 < 0.96


def test_items_of_one_group_count_as_far_as_they_differ() -> None:
    rng, hits, alone = np.random.default_rng(5), 0, 0
    groups = [str(place // 8) for place in range(160)]
    for _ in range(300):
        shared = np.repeat(rng.normal(0, 1.5, (20, 2)), 8, axis=0)
        truth = 5 + shared[:, 0] + rng.normal(0, 0.5, 160)
        labels = np.where(rng.permutation(160) < 60, truth, np.nan)
        judge = truth + shared[:, 1] + rng.normal(0, 0.5, 160)
        found = estimate_corrected_mean(judge, labels, groups=groups)
        single = estimate_corrected_mean(judge, labels)
        assert found is not None
        assert single is not None
        assert (found.value, found.n_all, single.n) == (single.value, 60, 60)
        assert found.n <= 20
        hits += found.low <= 5 <= found.high
        alone += single.low <= 5 <= single.high
    assert alone / 300 < 0.8
    assert hits / 300 > 0.92


def test_groups_of_one_item_each_change_nothing() -> None:
    rng = np.random.default_rng(6)
    labels = np.where(np.arange(40) < 12, rng.normal(5, 2, 40), np.nan)
    judge, names = rng.normal(5, 2, 40), [str(place) for place in range(40)]
    alone, grouped = (estimate_corrected_mean(judge, labels, groups=own) for own in (None, names))
    assert alone is not None
    assert grouped is not None
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), rel=1e-9)
    assert grouped.n_tests is None


def test_labels_all_alike_allow_for_items_that_predictions_set_apart() -> None:
    judge = [9.0] * 20 + [1.0] * 80
    labels = [10.0] * 20 + [math.nan] * 80
    found = estimate_corrected_mean(judge, labels, bounds=(0.0, 10.0))
    assert found is not None
    assert found.low == pytest.approx(2.0)


def test_sizes_are_equal_where_repeats_differ_by_chance_only() -> None:
    rng = np.random.default_rng(7)
    alike = compute_sizes((4 * rng.normal(0, 1, (4, 2000)).var(axis=0)).tolist(), [3] * 2000)
    assert np.std(alike) < 0.1
    apart = compute_sizes([0.04] * 90 + [64.0] * 10 + [0.0], [4] * 100 + [0])
    assert apart[-1] == 1.0
    assert apart[95] > 3 * apart[0] > 0


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), min_size=1))
def test_sizes_are_above_zero(items: list[tuple[float, int]]) -> None:
    squares = [square if freedom else 0.0 for square, freedom in items]
    assert min(compute_sizes(squares, [freedom for _, freedom in items])) > 0


@given(st.integers(1, 39), st.floats(0, 10))
def test_labels_that_pass_or_fail_get_the_limits_of_a_share(n_passed: int, judged: float) -> None:
    labels = [10.0] * n_passed + [0.0] * (40 - n_passed)
    found = estimate_corrected_mean([judged] * 40, labels, bounds=(0.0, 10.0))
    assert found is not None
    low, high = wilson_interval(n_passed / 40, 38, t_quantile_95(38))
    assert (found.low, found.high) == (pytest.approx(10 * low), pytest.approx(10 * high))


def test_a_corrected_share_beyond_a_bound_still_has_limits() -> None:
    judge = np.array([9.0] * 9 + [1.0] + [10.0] * 90)
    labels = np.array([10.0] * 9 + [0.0] + [np.nan] * 90)
    found = estimate_corrected_mean(judge, labels, bounds=(0.0, 10.0))
    assert found is not None
    assert 0 <= found.low < 10 <= found.high
