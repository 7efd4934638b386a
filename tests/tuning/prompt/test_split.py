from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.tuning.prompt.cases import Case, Shares, split_cases

LEVELS = st.lists(st.integers(1, 5), min_size=10, max_size=200)


def cases_of(levels: list[int]) -> list[Case]:
    return [Case(f"t{number}", level) for number, level in enumerate(levels)]


@given(LEVELS, st.integers())
def test_every_case_is_in_exactly_one_part(levels: list[int], seed: int) -> None:
    cases = cases_of(levels)
    split = split_cases(cases, Shares(), seed)
    ids = [*split.train, *split.validation, *split.held_out]
    assert sorted(ids) == sorted(case.id for case in cases)


@given(LEVELS, st.integers())
def test_parts_are_as_large_as_their_shares(levels: list[int], seed: int) -> None:
    shares = Shares(train=0.5, validation=0.25)
    split = split_cases(cases_of(levels), shares, seed)
    n = len(levels)
    assert abs(len(split.train) - 0.5 * n) <= 1
    assert abs(len(split.validation) - 0.25 * n) <= 1
    assert abs(len(split.held_out) - 0.25 * n) <= 1


@given(LEVELS, st.integers())
def test_every_part_has_the_mix_of_levels(levels: list[int], seed: int) -> None:
    cases = cases_of(levels)
    level_of = {case.id: case.level for case in cases}
    held_out = split_cases(cases, Shares(), seed).held_out
    found = Counter(level_of[case_id] for case_id in held_out)
    for level, count in Counter(levels).items():
        assert abs(found[level] - 0.35 * count) <= 2


def test_the_same_seed_gives_the_same_parts_whatever_the_order_of_the_tests() -> None:
    cases = cases_of([1, 2, 3] * 10)
    assert split_cases(cases, Shares(), 7) == split_cases(cases[::-1], Shares(), 7)
    assert split_cases(cases, Shares(), 7) != split_cases(cases, Shares(), 8)


def test_too_few_tests_are_refused() -> None:
    with pytest.raises(ValueError, match="2 tests are too few"):
        split_cases(cases_of([1] * 2), Shares(), 0)


def test_shares_that_leave_nothing_over_are_refused() -> None:
    with pytest.raises(ValueError, match="share of at least 1 %"):
        split_cases(cases_of([1] * 20), Shares(train=0.7, validation=0.3), 0)
    with pytest.raises(ValueError, match="no test is left for held-out"):
        split_cases(cases_of([1] * 6), Shares(train=0.5, validation=0.48), 0)
