from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.tuning.sweep_ranking import LEAST_TESTS, find_best, find_losers, lead

TABLES = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=30).map(
    lambda rows: {
        name: {str(number): row[column] for number, row in enumerate(rows)}
        for column, name in enumerate("abc")
    }
)


def scores(*values: float) -> dict[str, float]:
    return {str(number): value for number, value in enumerate(values)}


@given(TABLES)
def test_the_best_is_never_dropped(table: dict[str, dict[str, float]]) -> None:
    best = find_best(table)
    assert best not in {loser.variant_id for loser in find_losers(table)}


@given(TABLES)
def test_whoever_is_dropped_is_behind_with_a_whole_interval(
    table: dict[str, dict[str, float]],
) -> None:
    for loser in find_losers(table):
        found = lead(table[loser.leader_id], table[loser.variant_id], {})
        assert found == loser.behind
        assert loser.behind.low > 0


def test_what_is_kept_is_never_dropped() -> None:
    table = {"good": scores(*[1.0] * 20), "base": scores(*[0.0] * 20)}
    assert [loser.variant_id for loser in find_losers(table)] == ["base"]
    assert find_losers(table, kept={"base"}) == []


def test_nobody_is_dropped_for_a_few_tests() -> None:
    n = LEAST_TESTS - 1
    assert find_losers({"good": scores(*[1.0] * n), "bad": scores(*[0.0] * n)}) == []


def test_a_small_difference_drops_nobody() -> None:
    table = {"a": scores(*[1.0, 0.0] * 6), "b": scores(*[0.0, 1.0] * 5, 0.0, 0.0)}
    assert find_losers(table) == []


def test_the_best_is_among_those_with_most_tests() -> None:
    assert find_best({"short": scores(1.0), "long": scores(0.5, 0.5), "none": {}}) == "long"
    assert find_best({}) is None
