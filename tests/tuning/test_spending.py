from __future__ import annotations

import pytest

from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM, Prices
from poor_bench.tuning.searches import SearchStoppedError, StopReason
from poor_bench.tuning.spending import Limits, Spending, limit_money


def test_calls_beyond_the_budget_are_not_allowed() -> None:
    spending = Spending(Limits(n_calls=5))
    spending.note(None, 3)
    spending.require(2)
    with pytest.raises(SearchStoppedError) as stopped:
        spending.require(3)
    assert stopped.value.reason is StopReason.BUDGET


def test_the_reserve_is_kept_back() -> None:
    spending = Spending(Limits(n_calls=10))
    spending.reserve = 4
    assert spending.n_left == 6
    with pytest.raises(SearchStoppedError):
        spending.require(7)
    spending.require(6)


def test_nothing_to_ask_is_always_allowed() -> None:
    spending = Spending(Limits(n_calls=1), n_calls=1)
    spending.reserve = 4
    spending.require(0)


def test_a_limit_of_money_is_the_managers_and_what_was_spent_counts() -> None:
    manager = LLMManager()
    local = LLM(id="embedded:x", provider="embedded", name="x")
    limit_money(Limits(), manager, [local])
    assert manager.budget is None
    limit_money(Limits(cost_usd=2.0), manager, [local], spent_usd=0.5)
    assert manager.budget is not None
    assert manager.budget.limit_usd == 1.5


def test_prices_must_be_known_where_money_is_limited() -> None:
    unknown = LLM(id="openai:x", provider="openai", name="x")
    known = LLM(id="openai:y", provider="openai", name="y", prices=Prices(input=1, output=2))
    limit_money(Limits(), LLMManager(), [unknown])
    limit_money(Limits(cost_usd=1), LLMManager(), [known])
    with pytest.raises(ConfigError, match="--max-cost needs the prices of openai:x"):
        limit_money(Limits(cost_usd=1), LLMManager(), [known, unknown])
