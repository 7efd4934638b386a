import tracemalloc

import numpy as np
import pytest

from poor_bench.models.result import Result
from poor_bench.statistics import item_response
from poor_bench.statistics.item_response import arrange_passes, fit_item_response
from poor_bench.statistics.outcomes import collect_outcomes


def simulate(n_models: int, n_tests: int) -> tuple[list[Result], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    ability = rng.normal(size=n_models)
    ability = (ability - ability.mean()) / ability.std()
    difficulty, slope = rng.normal(size=n_tests), np.exp(rng.normal(0, 0.4, n_tests))
    chance = 1 / (1 + np.exp(-slope * (ability[:, None] - difficulty)))
    passed = rng.random(chance.shape) < chance
    results = [
        Result(llm_id=f"m{model}", test_id=f"t{test}", score=float(passed[model, test]))
        for model in range(n_models)
        for test in range(n_tests)
    ]
    return results, ability, difficulty


def test_known_parameters_are_recovered_and_intervals_cover() -> None:
    results, ability, difficulty = simulate(40, 150)
    fit = fit_item_response(arrange_passes(collect_outcomes(results)))
    estimates = list(fit.abilities.values())
    covered = [x.low <= true <= x.high for x, true in zip(estimates, ability, strict=True)]
    assert np.mean(covered) >= 0.85
    assert np.corrcoef([x.value for x in estimates], ability)[0, 1] > 0.97
    assert np.corrcoef([item.difficulty for item in fit.items], difficulty)[0, 1] > 0.85
    assert fit_item_response(arrange_passes(collect_outcomes(results))) == fit


def test_the_fit_does_not_depend_on_how_many_tests_are_looked_at_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = collect_outcomes(simulate(30, 50)[0])
    whole = fit_item_response(arrange_passes(outcomes))
    monkeypatch.setattr(item_response, "_TESTS_AT_ONCE", 7)
    monkeypatch.setattr(item_response, "_TRIALS_AT_ONCE", 100)
    assert fit_item_response(arrange_passes(outcomes)) == whole


def test_a_reversed_test_has_a_low_discrimination() -> None:
    results, ability, _ = simulate(40, 60)
    odd = [
        Result(llm_id=f"m{n}", test_id="odd", score=float(value < 0))
        for n, value in enumerate(ability)
    ]
    items = fit_item_response(arrange_passes(collect_outcomes([*results, *odd]))).items
    assert min(items, key=lambda item: item.discrimination).test_id == "odd"


def test_fewer_than_twenty_models_are_too_few() -> None:
    assert fit_item_response(arrange_passes(collect_outcomes(simulate(19, 30)[0]))) is None
    alike = [
        Result(llm_id=f"m{n}", test_id=f"t{t}", score=1.0) for n in range(20) for t in range(9)
    ]
    assert fit_item_response(arrange_passes(collect_outcomes(alike))) is not None


def test_the_fit_of_many_trials_takes_a_few_bytes_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = collect_outcomes(simulate(100, 200)[0])
    monkeypatch.setattr(item_response, "_TESTS_AT_ONCE", 5)
    monkeypatch.setattr(item_response, "_TRIALS_AT_ONCE", 200)
    tracemalloc.start()
    fit_item_response(arrange_passes(outcomes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * len(outcomes.scores)
