from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from poor_bench.models.test import Test
from poor_bench.statistics.scores import ScoreTable
from poor_bench.statistics.short_form import (
    FullScores,
    predict_full_score,
    predict_short_forms,
    select_short_form,
)


def make_tests(
    n: int, *, group_size: int = 1, short: frozenset[str] = frozenset()
) -> dict[str, Test]:
    return {
        f"t{k}": Test(
            test_id=f"t{k}",
            class_id=f"c{k % 4}" if group_size == 1 else f"c{k // group_size % 4}",
            level=1,
            text="x",
            group=f"g{k // group_size}" if group_size > 1 else None,
            tags=("short",) if f"t{k}" in short else (),
        )
        for k in range(n)
    }


def make_table(scores: NDArray[np.float64]) -> ScoreTable:
    return ScoreTable(
        llm_ids=tuple(f"m{k}" for k in range(scores.shape[1])),
        test_ids=tuple(f"t{k}" for k in range(scores.shape[0])),
        scores=scores,
        n_trials=np.ones(scores.shape, dtype=np.int64),
        squares=np.zeros(scores.shape),
    )


def draw(rng: np.random.Generator, n_tests: int, n_models: int) -> NDArray[np.float64]:
    ability = (
        rng.normal(0.5, 1.2, n_models) + rng.normal(0, 0.5, (4, n_models))[np.arange(n_tests) % 4]
    )
    chance = 1 / (1 + np.exp(rng.normal(0, 1.2, (n_tests, 1)) - ability))
    return (rng.random(chance.shape) < chance).astype(float)


@pytest.mark.slow(reason="simulates thousands of samples")
def test_intervals_of_new_models_cover_and_errors_are_smaller_than_of_random_choices() -> None:
    hits, short, random = 0, [], []
    runs = 50
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        scores, tests = draw(rng, 48, 13), make_tests(48)
        full = FullScores(make_table(scores[:, :-1]), tests)
        form = select_short_form(full, 0.25, seed=seed)
        own = scores[:, -1]
        found = predict_full_score(
            full, {key: own[int(key[1:])] for key in form.test_ids}, seed=seed
        )
        assert found is not None
        hits += found.low <= own.mean() <= found.high
        short.append((found.value - own.mean()) ** 2)
        random.append((rng.permutation(own)[:12].mean() - own.mean()) ** 2)
    assert hits >= 0.88 * runs
    assert np.mean(short) < 0.8 * np.mean(random)


@given(st.integers(8, 60), st.integers(0, 8), st.floats(0.05, 1), st.integers(1, 4))
def test_choice_has_about_the_share_and_keeps_groups_together(
    n_tests: int, n_models: int, share: float, group_size: int
) -> None:
    rng = np.random.default_rng(n_tests)
    tests = make_tests(n_tests, group_size=group_size)
    form = select_short_form(FullScores(make_table(draw(rng, n_tests, n_models)), tests), share)
    assert form.test_ids
    assert abs(len(form.test_ids) - share * n_tests) <= max(1.0, group_size)
    groups = Counter(tests[key].group for key in form.test_ids)
    whole = Counter(test.group for test in tests.values())
    if group_size > 1:
        assert all(groups[name] == whole[name] for name in groups)
    assert form.is_learnt == (n_models >= 5)


def test_each_class_has_its_share() -> None:
    full = FullScores(make_table(draw(np.random.default_rng(1), 48, 9)), make_tests(48))
    form = select_short_form(full, 0.25)
    assert Counter(int(key[1:]) % 4 for key in form.test_ids) == {0: 3, 1: 3, 2: 3, 3: 3}


def test_few_tests_of_many_levels_are_spread_over_all_classes() -> None:
    tests = {
        f"t{n}": Test(test_id=f"t{n}", class_id=f"c{n % 4}", level=1 + n // 4 % 5, text="?")
        for n in range(64)
    }
    table = make_table(draw(np.random.default_rng(3), 64, 1))
    form = select_short_form(FullScores(table, tests), 0.25)
    assert Counter(tests[name].class_id for name in form.test_ids) == dict.fromkeys(
        ("c0", "c1", "c2", "c3"), 4
    )


def test_a_model_much_weaker_than_all_known_ones_is_not_drawn_towards_them() -> None:
    rng = np.random.default_rng(3)
    known = (rng.random((60, 9)) < 0.95).astype(float)
    full = FullScores(make_table(known), make_tests(60))
    form = select_short_form(full, 0.25)
    found = predict_full_score(
        full, {key: float(k % 5 == 0) for k, key in enumerate(form.test_ids)}
    )
    assert found is not None
    assert found.value < 0.35
    usual = predict_full_score(full, dict.fromkeys(form.test_ids, 1.0))
    assert usual is not None
    assert found.margin > 2 * usual.margin


def test_settings_of_one_model_count_once() -> None:
    scores = draw(np.random.default_rng(1), 24, 6)
    families = {f"m{k}": f"digest {k // 2}" for k in range(6)}
    full = FullScores(make_table(scores), make_tests(24), families)
    assert full.n_models == 3
    assert not select_short_form(full, 0.5).is_learnt


def test_all_tests_predict_the_full_score_exactly() -> None:
    scores = draw(np.random.default_rng(1), 24, 7)
    full = FullScores(make_table(scores[:, :-1]), make_tests(24))
    own = {f"t{k}": score for k, score in enumerate(scores[:, -1])}
    found = predict_full_score(full, own)
    assert found is not None
    assert found.value == pytest.approx(scores[:, -1].mean())
    assert found.margin < 1e-3


def test_only_models_that_ran_the_short_form_alone_are_predicted() -> None:
    scores = draw(np.random.default_rng(1), 40, 9)
    short = frozenset(f"t{k}" for k in range(0, 40, 4))
    in_short = np.array([f"t{k}" in short for k in range(40)])
    scores[~in_short, 6] = np.nan
    scores[~in_short, 7] = np.nan
    scores[1, 7] = 1.0
    scores[~in_short, 8] = np.nan
    scores[in_short.cumsum() > 5, 8] = np.nan
    table = make_table(scores)
    assert list(predict_short_forms(table, make_tests(40, short=short))) == ["m6"]
    assert predict_short_forms(table, make_tests(40)) == {}


def test_a_share_out_of_range_is_refused() -> None:
    full = FullScores(make_table(draw(np.random.default_rng(1), 8, 6)), make_tests(8))
    for share in (0.0, 1.1):
        with pytest.raises(ValueError, match="share must be"):
            select_short_form(full, share)
