from __future__ import annotations

from typing import NamedTuple

import pytest

from poor_bench.calls.budget import Budget, require_prices
from poor_bench.errors import CallLimitError, ConfigError, CostLimitError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message, Timing, Usage
from poor_bench.models.llm import LLM, Prices
from tests.providers.fake_clock import FakeClock

PRICED = LLM(
    id="s:a",
    provider="scripted",
    name="a",
    prices=Prices(input=0.0, output=1000.0),
    parameters={"responses": [{"text": "x", "prompt_tokens": 1, "completion_tokens": 100}]},
)
FREE = LLM(id="s:b", provider="scripted", name="b", parameters={"responses": "x"})
ASKED = (Message("user", "hello"),)


class Priced(NamedTuple):
    cost_usd: float | None


def completion(tokens: int) -> Completion:
    usage = Usage(prompt_tokens=1, completion_tokens=tokens)
    return Completion(text="x", usage=usage, timing=Timing(total_ms=1.0))


def ask(budget: Budget, tokens: int, max_tokens: int | None = 1000) -> None:
    with budget.hold_request(PRICED, ASKED, max_tokens) as pay:
        pay(completion(tokens))


def test_what_replies_cost_is_counted() -> None:
    budget = Budget(10.0)
    ask(budget, 100)
    assert budget.spent_usd == pytest.approx(0.1)
    assert not budget.is_reached


def test_nothing_is_asked_that_would_cost_too_much() -> None:
    budget = Budget(0.4)
    with pytest.raises(CostLimitError, match=r"\$0 of \$0\.40"):
        ask(budget, 100)
    assert budget.is_reached


def test_replies_so_far_tell_what_the_next_one_will_cost() -> None:
    budget = Budget(0.6)
    for _ in range(6):
        ask(budget, 100)
    assert budget.spent_usd == pytest.approx(0.6)
    with pytest.raises(CostLimitError):
        ask(budget, 100)


def test_requests_under_way_count() -> None:
    budget = Budget(0.7)
    with budget.hold_request(PRICED, ASKED, 500), pytest.raises(CostLimitError):
        ask(budget, 100, max_tokens=500)
    ask(budget, 100, max_tokens=500)


def test_a_failed_request_gives_its_money_back() -> None:
    budget = Budget(0.7)
    for _ in range(3):
        with pytest.raises(OSError, match="down"), budget.hold_request(PRICED, ASKED, 500):
            raise OSError("down")
    assert budget.spent_usd == 0.0


def test_a_limit_on_the_reply_limits_its_cost() -> None:
    ask(Budget(0.05), 40, max_tokens=50)


def test_free_llms_go_on_when_the_money_is_spent() -> None:
    manager = LLMManager(clock=FakeClock(), budget=Budget(0.0))
    with pytest.raises(CostLimitError):
        manager.complete(PRICED, ASKED)
    assert manager.complete(FREE, ASKED).text == "x"


def test_the_manager_counts_what_it_asks() -> None:
    budget = Budget(1.0)
    manager = LLMManager(clock=FakeClock(), budget=budget)
    manager.complete(PRICED, ASKED)
    assert budget.spent_usd == pytest.approx(0.1)


def test_work_of_several_requests_is_not_begun_where_it_might_cost_too_much() -> None:
    budget = Budget(1.0)
    with budget.hold(0.6) as settle:
        with (
            pytest.raises(CostLimitError, match="the next pair"),
            budget.hold(0.6, "the next pair"),
        ):
            pass
        settle(0.2)
    assert (budget.spent_usd, budget.n_refused) == (0.2, 1)
    with budget.hold(0.6) as settle:
        settle(None)
    assert budget.spent_usd == pytest.approx(0.8)


def test_no_limit_refuses_nothing() -> None:
    budget = Budget()
    for _ in range(3):
        with budget.hold(1e9) as settle:
            settle(None)
    assert not budget.is_reached


def test_a_reply_of_unknown_length_costs_what_was_expected() -> None:
    budget = Budget(10.0)
    with budget.hold_request(PRICED, ASKED, 100) as pay:
        pay(Completion(text="x", usage=Usage(), timing=Timing(total_ms=1.0)))
    assert budget.spent_usd == pytest.approx(0.1)


def test_a_limit_needs_prices_where_asking_costs_money() -> None:
    require_prices([PRICED, FREE], lambda llm: llm is FREE)
    with pytest.raises(ConfigError, match="s:b"):
        require_prices([PRICED, FREE], lambda _llm: False)


def test_calls_beyond_the_limit_are_not_allowed() -> None:
    budget = Budget(limit_calls=5)
    budget.count_calls(3)
    budget.require_calls(2)
    with pytest.raises(CallLimitError, match="3 of 5 calls are used; the next step needs 3"):
        budget.require_calls(3)


def test_reserved_calls_and_money_are_for_later() -> None:
    budget = Budget(1.0, limit_calls=10)
    with budget.reserve(n_calls=4, share_usd=0.3):
        assert budget.n_calls_left == 6
        budget.require_calls(6)
        with pytest.raises(CallLimitError, match="4 are reserved"):
            budget.require_calls(7)
        with pytest.raises(CostLimitError), budget.hold(0.8):
            pass
    budget.require_calls(10)
    with budget.hold(0.8) as settle:
        settle(0.8)
    assert budget.spent_usd == 0.8


def test_of_money_spent_before_a_share_of_the_rest_is_reserved() -> None:
    budget = Budget(10.0, spent_usd=8.0)
    with budget.reserve(n_calls=0, share_usd=0.5):
        with budget.hold(0.9):
            pass
        with pytest.raises(CostLimitError), budget.hold(1.1):
            pass


def test_a_step_without_calls_is_always_allowed() -> None:
    budget = Budget(limit_calls=1, n_calls=1)
    budget.require_calls(0)
    assert budget.n_calls_left == 0


def test_work_that_might_cost_too_much_is_not_done() -> None:
    budget = Budget(0.5)
    done = budget.run_within(0.4, lambda: Priced(0.1))
    assert done == Priced(0.1)
    assert budget.run_within(0.5, lambda: pytest.fail("was done")) is None
    assert (budget.spent_usd, budget.n_refused) == (0.1, 1)


def test_small_limits_are_written_with_the_digits_that_they_need() -> None:
    assert str(Budget(0.00002, spent_usd=0.0000012)) == "$0.0000012 of $0.00002 spent"
