import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.differences import (
    bootstrap_interval,
    estimate_difference,
    estimate_paired_difference,
)
from poor_bench.statistics.groups import (
    measure_spread,
    number_groups,
    sum_array,
    sum_if_whole,
    sum_values,
)
from poor_bench.statistics.means import estimate_mean, estimate_stratified_mean, mean_score

grouped = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([None, *"abcd"])), min_size=1)


@given(grouped)
def test_interval_holds_the_mean_and_counts_groups(tests: list[tuple[float, str | None]]) -> None:
    scores, groups = [list(column) for column in zip(*tests, strict=True)]
    for estimate in (mean_score(scores, groups), estimate_paired_difference(scores, groups)):
        assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.n == max(number_groups(len(scores), groups)) + 1
        assert estimate.n_tests == (None if estimate.n == len(scores) else len(scores))


tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)


@given(
    st.lists(
        st.tuples(tenths | st.sampled_from([0.0, 1.0]), st.sampled_from([None, *"abcd"])),
        min_size=1,
    ),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_arrays_give_the_same_figures_as_lists(
    tests: list[tuple[float, str | None]], shift: float
) -> None:
    scores, groups = [list(column) for column in zip(*tests, strict=True)]
    differences = [score - shift for score in scores]
    for named in (groups, None):
        units = None if named is None else 3 + 2 * np.array(number_groups(len(scores), named))
        for values, by_list, by_array in (
            (scores, mean_score, estimate_mean),
            (differences, estimate_paired_difference, estimate_difference),
        ):
            expected, found = by_list(values, named), by_array(sum_array(np.array(values), units))
            assert (found.n, found.n_tests) == (expected.n, expected.n_tests)
            assert (found.value, found.low, found.high) == pytest.approx(
                (expected.value, expected.low, expected.high), abs=1e-9
            )


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1))
def test_tests_that_are_won_or_lost_are_summed_at_once_without_another_digit(
    scores: list[float],
) -> None:
    assert sum_if_whole(np.array(scores)) == sum_values(scores)
    assert sum_if_whole(np.array([*scores, 0.5])) is None


@given(st.lists(st.floats(0, 1), min_size=1))
def test_groups_of_one_test_each_change_nothing(scores: list[float]) -> None:
    names = [str(place) for place in range(len(scores))]
    assert mean_score(scores, names) == mean_score(scores)
    assert estimate_paired_difference(scores, names) == estimate_paired_difference(scores)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]) | st.floats(-1, 1), min_size=1))
def test_tests_that_are_in_no_group_are_summed_to_the_last_digit_as_those_in_their_own(
    differences: list[float],
) -> None:
    names = [str(place) for place in range(len(differences))]
    assert sum_values(differences, [None] * len(differences)) == sum_values(differences, names)
    with pytest.raises(ValueError, match="groups for"):
        sum_values(differences, [None] * (len(differences) + 1))


def test_copies_of_tests_in_groups_tell_no_more_than_the_tests_themselves() -> None:
    scores = [1.0, 0.9, 0.8, 0.3, 0.6, 0.7, 1.0, 0.2, 0.9, 0.5] * 4
    alone = mean_score(scores)
    names = [str(place) for place in range(40)] * 5
    copied = mean_score(scores * 5, names)
    assert copied.n == 40
    assert copied.n_tests == 200
    assert copied.margin == pytest.approx(alone.margin, rel=0.02)
    assert mean_score(scores * 5).margin < 0.6 * alone.margin


def test_one_group_tells_next_to_nothing() -> None:
    assert mean_score([0.4, 0.6, 0.5], ["a"] * 3).margin > 0.45


def test_uneven_groups_have_fewer_degrees_of_freedom() -> None:
    groups = ["big"] * 20 + list("abcdefghi")
    scores = [1.0] * 20 + [0.0] * 9
    assert measure_spread(sum_values(scores, groups)).freedom < 3


@pytest.mark.slow(reason="simulates thousands of samples")
def test_interval_covers_with_ten_groups_where_single_tests_would_not() -> None:
    rng = np.random.default_rng(4)
    names = [str(place // 10) for place in range(100)]
    hits = np.zeros(3)
    for _ in range(200):
        ability = np.repeat(rng.beta(1.2, 0.8, 10), 10)
        scores = (rng.random(100) < ability) * 1.0
        other = (rng.random(100) < ability.mean()) * 1.0
        estimates = mean_score(scores.tolist(), names), mean_score(scores.tolist())
        difference = estimate_paired_difference((scores - other).tolist(), names)
        hits += [estimate.low <= 0.6 <= estimate.high for estimate in estimates] + [
            difference.low <= 0 <= difference.high
        ]
    assert 0.92 <= hits[0] / 200 <= 0.99
    assert hits[1] / 200 < 0.8
    assert hits[2] / 200 > 0.93


def test_interval_covers_where_ten_groups_may_all_be_good_by_chance() -> None:
    rng = np.random.default_rng(6)
    names = [str(place // 20) for place in range(200)]
    hits = 0
    for _ in range(150):
        ability = np.repeat(rng.beta(0.95 * 3 / 7, 0.05 * 3 / 7, 10), 20)
        estimate = mean_score((rng.binomial(5, ability) / 5).tolist(), names)
        hits += estimate.low <= 0.95 <= estimate.high
    assert hits / 150 >= 0.92


@pytest.mark.slow(reason="simulates thousands of samples")
def test_interval_of_ten_small_groups_is_not_wider_than_needed() -> None:
    rng = np.random.default_rng(1)
    names = [str(place // 2) for place in range(20)]
    hits = 0
    for _ in range(500):
        ability = np.repeat(rng.beta(0.95 * 7 / 3, 0.05 * 7 / 3, 10), 2)
        estimate = mean_score(((rng.random(20) < ability) * 1.0).tolist(), names)
        hits += estimate.low <= 0.95 <= estimate.high
    assert 0.93 <= hits / 500 <= 0.965


def test_resampled_groups_are_drawn_as_a_whole() -> None:
    differences = np.repeat(np.random.default_rng(1).normal(0, 0.2, 12).clip(-1, 1), 5).tolist()
    alone = bootstrap_interval(differences)
    grouped = bootstrap_interval(differences, [str(place // 5) for place in range(60)])
    assert (grouped.n, grouped.n_tests, grouped.value) == (12, 60, alone.value)
    assert grouped.margin > 1.8 * alone.margin


def test_groups_that_span_classes_widen_the_mean_over_classes() -> None:
    scores = {"de": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0], "fr": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]}
    groups = {name: list("uvwxyz") for name in scores}
    apart, joined = (
        estimate_stratified_mean(scores),
        estimate_stratified_mean(scores, groups_by_class=groups),
    )
    assert (joined.n, joined.n_tests) == (6, 12)
    assert joined.margin > 1.2 * apart.margin


def test_groups_must_match_the_tests() -> None:
    with pytest.raises(ValueError, match="1 groups for 2 tests"):
        mean_score([1.0, 0.0], ["a"])


def test_four_of_ten_groups_that_differ_one_way_tell_the_sign_and_three_do_not() -> None:
    groups = [str(place // 6) for place in range(60)]
    four, three = (
        [1.0 * (place % 6 == 0 and place < 6 * n) for place in range(60)] for n in (4, 3)
    )
    assert estimate_paired_difference(four, groups).low > 0
    assert estimate_paired_difference([-each for each in four], groups).high < 0
    assert estimate_paired_difference(three, groups).low <= 0
    balanced = [*four[:-2], 1.0, -1.0]
    assert estimate_paired_difference(balanced, groups).low > 0
    assert estimate_paired_difference([*four[:-1], -1.0], groups).low <= 0
    assert estimate_paired_difference(four[:42], groups[:42]).low <= 0
