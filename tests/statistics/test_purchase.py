from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.result import Result
from poor_bench.statistics.intervals import t_quantile_95
from poor_bench.statistics.purchase import (
    Price,
    PurchaseBudget,
    Unit,
    compute_variance,
    measure_price,
    plan_purchase,
)
from poor_bench.statistics.variance_components import Components, ModelComponents

variances = st.floats(0.0, 0.25)


def build(
    test: float, trial: float | None, judge: float = 0.0, *, n: int = 30, trials: int = 2
) -> Components:
    left = np.full(n, 0.5 if judge else 0.0)
    side = ModelComponents(
        trial=trial, judge=judge, n_trials=np.full(n, float(trials)), unjudged=left
    )
    return Components(
        group=None, test=test, sides=(side,), n_tests=n, n_groups=n, concentration=float(n)
    )


@given(variances, variances, st.sampled_from([0.0, 0.1]), st.integers(20, 300), st.integers(0, 60))
def test_advice_is_within_the_budget_and_nearly_as_good_as_brute_force(
    test: float, trial: float, judge: float, amount: int, test_cost: int
) -> None:
    components = build(test, trial, judge)
    budget = PurchaseBudget(float(amount), Unit.CALLS, float(test_cost))
    found = plan_purchase(components, [Price(1.0, 1.0 if judge else None)], budget)
    if components.total_variance == 0:
        assert found is None
        return
    assert found is not None
    best = 1.0
    k = 2 if judge else 0
    for a in range(amount // 30 + 1):
        for b in range(amount // 60 + 1 if judge else 1):
            spent = 30 * a * (1 + k + b) + 60 * b
            for r in range(1, 12):
                m = int((amount - spent) // (test_cost + r * (1 + k + b)))
                if m >= 0:
                    ratio = compute_variance(components, m, a, b, r) / components.total_variance
                    best = min(best, ratio**0.5 * t_quantile_95(29 + m) / t_quantile_95(29))
    if found.best is None:
        assert best == pytest.approx(1.0)
    else:
        assert found.best.cost <= amount
        assert found.best.factor <= best * 1.0101


def test_trials_are_bought_where_new_tests_are_expensive_and_noise_is_in_trials() -> None:
    budget = PurchaseBudget(60.0, Unit.CALLS, 50.0)
    found = plan_purchase(build(0.01, 0.2), [Price(1.0, None)], budget)
    assert found is not None
    assert found.best is not None
    assert (found.best.tests, found.best.trials) == (0, 2)
    assert found.best.factor == pytest.approx(((0.01 + 0.2 / 4) / (0.01 + 0.2 / 2)) ** 0.5)


def test_judgements_are_bought_where_the_judge_is_noisy() -> None:
    found = plan_purchase(
        build(0.01, 0.01, 0.4), [Price(10.0, 0.1)], PurchaseBudget(20.0, Unit.USD, 50.0)
    )
    assert found is not None
    assert found.best is not None
    assert found.best == found.only_judgements


def test_noise_that_is_not_known_is_not_bought_against() -> None:
    components = build(0.1, None, trials=1)
    found = plan_purchase(components, [Price(1.0, None)], PurchaseBudget(90.0, Unit.CALLS))
    assert found is not None
    assert found.best is not None
    assert found.only_trials is None
    assert found.best.tests == 90


def test_without_a_price_nothing_is_advised() -> None:
    assert (
        plan_purchase(build(0.1, 0.1), [Price(None, None)], PurchaseBudget(1.0, Unit.USD)) is None
    )


def test_prices_are_the_means_of_what_was_stored() -> None:
    samples = [{"overall_score": 5.0}, {"overall_score": 7.0}]
    results = [
        Result(
            llm_id="a", test_id="t", score=0.6, cost_usd=0.02, execution_time_ms=30_000,
            judgement={"samples": samples, "cost_usd": 0.1},
        ),
        Result(llm_id="a", test_id="u", score=1.0, cost_usd=0.04),
    ]  # fmt: skip
    assert measure_price(results, Unit.USD) == pytest.approx((0.03, 0.05))
    assert measure_price(results, Unit.CALLS) == (1.0, 1.0)
    assert measure_price(results, Unit.MINUTES) == (0.5, None)
    assert measure_price([Result(llm_id="a", test_id="t", score=1.0)], Unit.USD) == (None, None)
