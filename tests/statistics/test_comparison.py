from collections.abc import Sequence

import numpy as np
import pytest

from poor_bench.models.result import Result
from poor_bench.statistics.comparison import (
    compare_llms,
    compute_rank_ranges,
    find_standing,
    find_tie_groups,
)


def read_results_of(scores: dict[str, Sequence[float]], *, trial: int = 1) -> list[Result]:
    return [
        Result(llm_id=llm_id, test_id=f"t{number}", score=float(score), trial=trial)
        for llm_id, values in scores.items()
        for number, score in enumerate(values)
    ]


def test_nothing_scored_gives_an_empty_comparison() -> None:
    comparison = compare_llms([])
    assert comparison.pairs == comparison.ranks == comparison.groups == ()


def test_a_single_llm_has_the_first_rank() -> None:
    comparison = compare_llms(read_results_of({"a": [1.0]}))
    assert [(row.best, row.worst) for row in comparison.ranks] == [(1, 1)]
    assert comparison.groups == (("a",),)


def test_pairs_rest_on_common_tests_alone() -> None:
    [pair] = compare_llms(read_results_of({"a": [1, 1, 0, 1], "b": [0, 1]})).pairs
    assert (pair.mean_a, pair.mean_b, pair.difference.n) == (1.0, 0.5, 2)
    assert (pair.n_better, pair.n_worse) == (1, 0)


def test_llms_without_common_tests_are_named_and_not_compared() -> None:
    comparison = compare_llms(
        [*read_results_of({"a": [1.0]}), Result(llm_id="b", test_id="other", score=0.0)]
    )
    assert comparison.pairs == ()
    assert comparison.apart == (("a", "b"),)
    assert comparison.groups == (("a", "b"),)


def test_clear_differences_are_real_and_give_ranks() -> None:
    rng = np.random.default_rng(4)
    ability = rng.random(120)
    comparison = compare_llms(
        read_results_of(
            {
                "weak": ability < 0.3,
                "twin": (ability < 0.8) ^ (rng.random(120) < 0.05),
                "strong": (ability < 0.8) ^ (rng.random(120) < 0.05),
            }
        )
    )
    assert [(row.best, row.worst) for row in comparison.ranks] == [(1, 2), (1, 2), (3, 3)]
    assert len(comparison.groups) == 2
    assert comparison.groups[1] == ("weak",)


def test_correction_makes_pairs_harder_to_call_real() -> None:
    rng = np.random.default_rng(6)
    pairs = compare_llms(read_results_of({name: rng.random(30) for name in "abcdef"})).pairs
    assert len(pairs) == 15
    assert all(pair.p_adjusted >= pair.p_value for pair in pairs)
    assert not any(pair.is_real() for pair in pairs)


@pytest.mark.parametrize("groups", [{}, {f"t{number}": str(number // 3) for number in range(40)}])
def test_ranks_and_tie_groups_follow_from_pairs_and_are_found_without_them(
    groups: dict[str, str],
) -> None:
    rng = np.random.default_rng(8)
    results = [
        each
        for trial in (1, 2)
        for each in read_results_of(
            {name: rng.random(40) < n / 9 for n, name in enumerate("abcdefgh")}, trial=trial
        )
        if rng.random() < 0.8
    ]
    comparison = compare_llms(results, groups=groups)
    order = [row.llm_id for row in comparison.ranks]
    better = [
        (pair.llm_a, pair.llm_b)[:: 1 if pair.difference.value > 0 else -1]
        for pair in comparison.pairs
        if pair.is_real()
    ]
    assert 0 < len(better) < len(comparison.pairs)
    assert [*comparison.ranks] == compute_rank_ranges(order, better)
    assert [*comparison.groups] == find_tie_groups(order, better)
    standing = find_standing(results, groups=groups)
    assert (standing.ranks, standing.groups) == (comparison.ranks, comparison.groups)


@pytest.mark.slow(reason="simulates thousands of samples")
def test_equal_llms_are_rarely_told_apart() -> None:
    rng = np.random.default_rng(10)
    wrong = sum(
        any(
            pair.is_real()
            for pair in compare_llms(
                read_results_of({name: rng.random(25) < 0.6 for name in "abcd"})
            ).pairs
        )
        for _ in range(200)
    )
    assert wrong <= 16


def test_trials_say_how_many_more_would_help() -> None:
    rng = np.random.default_rng(11)
    results = [
        result
        for trial in (1, 2, 3)
        for result in read_results_of(
            {"a": rng.random(200) < 0.62, "b": rng.random(200) < 0.58}, trial=trial
        )
    ]
    [pair] = compare_llms(results).pairs
    assert pair.needed_trials > 3
    assert compare_llms(results[:400]).pairs[0].needed_trials is None


def test_tests_of_one_group_are_one_piece_of_evidence() -> None:
    results = read_results_of({"a": [1] * 8, "b": [0] * 8})
    groups = {f"t{number}": f"group {number // 2}" for number in range(8)}
    [pair] = compare_llms(results, groups=groups).pairs
    assert (pair.n_tests, pair.n_better, pair.p_value) == (8, 8, 1 / 16)


def test_the_plan_for_a_pair_knows_how_many_pairs_there_are() -> None:
    rng = np.random.default_rng(6)
    scores = {name: rng.random(30) for name in "abcdef"}
    [alone] = compare_llms(read_results_of({name: scores[name] for name in "ab"})).pairs
    pairs = compare_llms(read_results_of(scores)).pairs
    among = next(pair for pair in pairs if {pair.llm_a, pair.llm_b} == {"a", "b"})
    assert among.needed_tests > alone.needed_tests
    assert among.needed.text == f"about {among.needed_tests:,} tests"


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_alpha_decides_what_is_real(alpha: float) -> None:
    comparison = compare_llms(read_results_of({"a": [1] * 8, "b": [0] * 8}), alpha=alpha)
    assert len(comparison.groups) == (2 if alpha == 0.05 else 1)
