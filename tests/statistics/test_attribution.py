from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from poor_bench.statistics.attribution import (
    Effect,
    RerunObservation,
    Screening,
    compute_exchange_p_value,
    find_budget,
)
from poor_bench.statistics.significance import compute_sign_flip_p_values

States = tuple[bool, ...]


def screen(n_tests: int, n_factors: int, moved: range = range(0)) -> Screening:
    return Screening(
        applies=((True,) * n_factors,) * n_tests,
        moved=tuple(test in moved for test in range(n_tests)),
        change=-0.3,
    )


def look(
    screening: Screening, score: Callable[[int, States], float], n: int = 96, n_most: int = 0
) -> list[Effect]:
    seen = []
    for pair in screening.list_pairs(n):
        first = tuple(sign > 0 for sign in pair.signs)
        second = tuple(sign < 0 for sign in pair.signs)
        seen.append(RerunObservation(pair, score(pair.test, first), score(pair.test, second)))
    return screening.look(seen, n_most or len(seen))


def causes(effects: list[Effect]) -> set[int]:
    return {factor for factor, effect in enumerate(effects) if effect.is_cause}


def test_single_cause_is_found_with_its_size() -> None:
    effects = look(screen(12, 5), lambda test, on: 0.0 if on[3] and test < 6 else 1.0)
    assert causes(effects) == {3}
    assert effects[3].estimate.value == pytest.approx(-0.5, abs=0.1)
    assert effects[3].estimate.low < -0.5 < effects[3].estimate.high
    assert effects[0].estimate.low <= 0 <= effects[0].estimate.high


def test_two_causes_are_found_apart() -> None:
    effects = look(screen(12, 4), lambda _test, on: 1.0 - 0.6 * on[0] - 0.2 * on[2])
    assert causes(effects) == {0, 2}
    assert effects[0].estimate.value == pytest.approx(-0.6)
    assert effects[2].estimate.value == pytest.approx(-0.2)


def test_two_that_act_only_together_share_the_effect() -> None:
    effects = look(screen(12, 4), lambda _test, on: 0.0 if on[0] and on[2] else 1.0)
    assert causes(effects) == {0, 2}
    assert effects[0].estimate.value == pytest.approx(-0.5, abs=0.1)


def test_noise_alone_is_no_cause() -> None:
    rng = np.random.default_rng(1)
    found = [
        causes(look(screen(20, 6), lambda _test, _on: float(rng.random() < 0.5), n=64))
        for _ in range(20)
    ]
    assert sum(map(bool, found)) <= 2


def test_early_looks_are_stricter() -> None:
    def score(test: int, on: States) -> float:
        return 0.0 if on[0] and test < 3 else 1.0

    assert causes(look(screen(12, 2), score, n=32)) == {0}
    assert causes(look(screen(12, 2), score, n=32, n_most=10_000)) == set()


def test_every_factor_is_balanced_in_a_block_and_tests_take_turns() -> None:
    pairs = screen(8, 6).list_pairs(8)
    signs = np.array([pair.signs for pair in pairs])
    assert (signs.T @ signs == 8 * np.eye(6)).all()
    assert sorted(pair.test for pair in pairs) == list(range(8))
    assert screen(8, 6).list_pairs(5) == pairs[:5]


def test_moved_tests_are_asked_more_often() -> None:
    pairs = screen(40, 3, moved=range(10)).list_pairs(80)
    n_moved = sum(pair.test < 10 for pair in pairs)
    assert n_moved == pytest.approx(40, abs=4)


def test_factor_that_concerns_some_tests_is_tried_on_them_only() -> None:
    screening = Screening(
        applies=((True, False),) * 5 + ((False, True),) * 5 + ((False, False),) * 10,
        moved=(False,) * 20,
        change=-0.25,
    )
    assert screening.n_full == 20
    assert {pair.test for pair in screening.list_pairs(40)} == set(range(10))
    effects = look(screening, lambda test, on: 0.0 if test < 5 and on[0] else 1.0, n=40)
    assert causes(effects) == {0}
    assert effects[0].estimate.value == pytest.approx(-0.25)


def test_settled_once_all_other_effects_are_small() -> None:
    screening = screen(12, 3)
    assert not screening.is_settled(screening.look([], 10))
    effects = look(screening, lambda _test, on: 1.0 - 0.5 * on[1], n=64)
    assert screening.is_settled(effects)


def test_budget_is_a_quarter_of_the_full_factorial() -> None:
    assert find_budget(screen(60, 6), 1) == 60 * 64 // 4
    assert find_budget(screen(60, 6), 3) == 3 * 60 * 64 // 4


def test_single_trials_agree_with_sign_flips() -> None:
    before, after = [[1.0]] * 6 + [[0.0]], [[0.0]] * 6 + [[0.0]]
    [expected] = compute_sign_flip_p_values([[-1.0]] * 6 + [[0.0]])
    assert compute_exchange_p_value(after, before) == pytest.approx(expected, abs=0.005)


def test_a_fall_among_tests_that_agree_is_seen_better_than_by_sign_flips() -> None:
    before = [[1.0]] * 20
    after = [[0.0, 0.0, 0.0]] * 4 + [[1.0, 1.0, 1.0]] * 16
    [flips] = compute_sign_flip_p_values([[-1.0]] * 4 + [[0.0]] * 16)
    assert compute_exchange_p_value(after, before) < 0.01 < flips


def test_equal_scores_are_no_change() -> None:
    assert compute_exchange_p_value([[1.0, 0.0]], [[0.0, 1.0]]) > 0.6


def test_unchanged_tests_are_called_changed_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(4)
    chance = rng.beta(1.3, 0.5, (30, 1))
    found = 0
    for seed in range(60):
        drawn = (rng.random((30, 4)) < chance).astype(float)
        found += (
            compute_exchange_p_value(drawn[:, :1].tolist(), drawn[:, 1:].tolist(), seed=seed) < 0.1
        )
    assert found <= 12
