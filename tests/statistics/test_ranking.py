from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.comparison import compute_rank_ranges, find_tie_groups

LLMS = ["a", "b", "c", "d", "e"]
differences = st.sets(st.sampled_from(list(combinations(LLMS, 2))))


def test_nothing_known_leaves_every_rank_open_and_one_group() -> None:
    assert [(row.best, row.worst) for row in compute_rank_ranges(LLMS, [])] == [(1, 5)] * 5
    assert find_tie_groups(LLMS, []) == [tuple(LLMS)]


def test_everything_known_gives_plain_ranks_and_no_ties() -> None:
    better = list(combinations(LLMS, 2))
    assert [(row.best, row.worst) for row in compute_rank_ranges(LLMS, better)] == [
        (rank, rank) for rank in range(1, 6)
    ]
    assert find_tie_groups(LLMS, better) == [(llm_id,) for llm_id in LLMS]


def test_an_llm_between_two_others_stands_in_both_groups() -> None:
    assert find_tie_groups(["a", "b", "c", "d"], [("a", "c"), ("a", "d"), ("b", "d")]) == [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
    ]


def test_hundreds_of_llms_that_tie_with_their_neighbours_form_groups_of_neighbours() -> None:
    llms, width = [f"llm-{place}" for place in range(300)], 20
    better = [(llms[a], llms[b]) for a, b in combinations(range(300), 2) if b - a >= width]
    assert find_tie_groups(llms, better) == [
        tuple(llms[first : first + width]) for first in range(300 - width + 1)
    ]


def test_no_llms_give_no_groups() -> None:
    assert compute_rank_ranges([], []) == []
    assert find_tie_groups([], []) == []


@given(differences)
def test_two_llms_share_a_group_exactly_if_they_cannot_be_told_apart(better: set) -> None:
    groups = find_tie_groups(LLMS, better)
    for pair in combinations(LLMS, 2):
        assert any(set(pair) <= set(group) for group in groups) == (pair not in better)
    assert not any(set(a) < set(b) for a in groups for b in groups)


@pytest.mark.parametrize("llm_id", LLMS)
@given(better=differences)
def test_rank_ranges_are_never_empty(llm_id: str, better: set) -> None:
    ranges = {row.llm_id: row for row in compute_rank_ranges(LLMS, better)}
    assert 1 <= ranges[llm_id].best <= ranges[llm_id].worst <= len(LLMS)
