from __future__ import annotations

import pytest

from poor_bench.calls.budget import SpendingLimits
from poor_bench.errors import (
    CallLimitError,
    ConfigError,
    CostLimitError,
    RunCancelledError,
    StoreError,
)
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM, Prices
from poor_bench.tuning.searches import SearchStoppedError, StopReason, find_reason, open_budget


def test_the_budget_of_a_search_is_the_managers_and_what_was_spent_counts() -> None:
    manager = LLMManager()
    local = LLM(id="embedded:x", provider="embedded", name="x")
    assert not open_budget(SpendingLimits(), manager, [local]).is_limited
    budget = open_budget(
        SpendingLimits(cost_usd=2.0, n_calls=9), manager, [local], spent_usd=0.5, n_calls=4
    )
    assert manager.budget is budget
    assert (budget.limit_usd, budget.spent_usd, budget.n_calls_left) == (2.0, 0.5, 5)


def test_prices_must_be_known_where_money_is_limited() -> None:
    unknown = LLM(id="openai:x", provider="openai", name="x")
    known = LLM(id="openai:y", provider="openai", name="y", prices=Prices(input=1, output=2))
    open_budget(SpendingLimits(), LLMManager(), [unknown])
    open_budget(SpendingLimits(cost_usd=1), LLMManager(), [known])
    with pytest.raises(ConfigError, match="--max-cost needs the prices of openai:x"):
        open_budget(SpendingLimits(cost_usd=1), LLMManager(), [known, unknown])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SearchStoppedError(StopReason.LLM_FAILED, ""), StopReason.LLM_FAILED),
        (CallLimitError(""), StopReason.BUDGET),
        (CostLimitError(""), StopReason.COST),
        (RunCancelledError(""), StopReason.CANCELLED),
        (StoreError(""), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_ends_a_search_has_a_reason_and_errors_have_none(
    error: Exception, reason: StopReason | None
) -> None:
    assert find_reason(error) is reason
