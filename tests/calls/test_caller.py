from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import pytest

from poor_bench.calls.budget import Budget
from poor_bench.calls.caller import Caller, ChunkPermit, Hold, RetryPolicy
from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.errors import CostLimitError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion, Message, Timing, Usage
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.ports import CallControl
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider

REQUEST = ChatRequest(messages=(Message("user", "hello"),))
ANSWER = Completion(text="4", timing=Timing(total_ms=1))


class ListedProvider(IdleProvider):
    def __init__(self, outcomes: Sequence[Completion | ProviderError]) -> None:
        self.outcomes = list(outcomes)

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ProviderError):
            raise outcome
        return outcome


def _caller(provider: ListedProvider, clock: FakeClock) -> Caller:
    llm = LLM(id="x:y", provider="x", name="y")
    limiter = RateLimiter(4, clock)
    return Caller(llm, provider, limiter, clock, RetryPolicy(), random.Random(1))


def _error(kind: FailureKind, **fields: float) -> ProviderError:
    return ProviderError(kind.value, kind=kind, **fields)  # type: ignore[arg-type]


def never() -> bool:
    return False


def test_busy_server_is_asked_again_after_the_wait_it_names() -> None:
    clock = FakeClock()
    busy = _error(FailureKind.RATE_LIMITED, retry_after_s=5.0)
    caller = _caller(ListedProvider([busy, busy, ANSWER]), clock)
    assert caller.complete(REQUEST, never) is ANSWER
    assert 10 <= clock.seconds <= 11
    assert caller.n_waiting == 0


def test_wrong_key_is_not_tried_twice() -> None:
    provider = ListedProvider([_error(FailureKind.AUTH), ANSWER])
    with pytest.raises(ProviderError) as raised:
        _caller(provider, FakeClock()).complete(REQUEST, never)
    assert raised.value.attempts == 1
    assert provider.outcomes == [ANSWER]


def test_unreachable_endpoint_is_given_up_for_everybody() -> None:
    clock = FakeClock()
    caller = _caller(ListedProvider([_error(FailureKind.CONNECTION)] * 9), clock)
    with pytest.raises(ProviderError) as raised:
        caller.complete(REQUEST, never)
    assert raised.value.attempts == 4
    assert caller.limiter.closed_by is raised.value
    waited = clock.seconds
    with pytest.raises(ProviderError):
        caller.complete(REQUEST, never)
    assert clock.seconds == waited


def test_failing_requests_leave_the_endpoint_open() -> None:
    caller = _caller(ListedProvider([_error(FailureKind.SERVER_ERROR)] * 5 + [ANSWER]), FakeClock())
    with pytest.raises(ProviderError):
        caller.complete(REQUEST, never)
    assert caller.complete(REQUEST, never) is ANSWER


def test_cancelling_ends_the_waiting() -> None:
    caller = _caller(ListedProvider([_error(FailureKind.SERVER_ERROR), ANSWER]), FakeClock())
    answers = iter([False, False, True])
    with pytest.raises(RunCancelledError):
        caller.complete(REQUEST, lambda: next(answers, True))


def test_a_failure_in_a_chunk_counts_as_the_first_attempt() -> None:
    clock = FakeClock()
    caller = _caller(ListedProvider([_error(FailureKind.TIMEOUT), ANSWER]), clock)
    with pytest.raises(ProviderError) as raised:
        caller.complete(REQUEST, never, _error(FailureKind.TIMEOUT))
    assert raised.value.attempts == 2, "a timeout is tried twice in all"


def hold(budget: Budget, llm: LLM, n_requests: int) -> list[Hold]:
    return [budget.hold_request(llm, REQUEST.messages, 1000) for _ in range(n_requests)]


def test_a_chunk_is_cut_where_the_money_ends_and_pays_what_it_cost() -> None:
    caller = _caller(ListedProvider([]), FakeClock())
    llm = LLM(id="x:y", provider="x", name="y", prices=Prices(input=0.0, output=2000.0))
    budget = Budget(2.5)
    permit = ChunkPermit(caller, hold(budget, llm, 5), never)
    assert len(permit.starts_s) == 2, "each request may cost a dollar"
    with pytest.raises(CostLimitError):
        ChunkPermit(caller, hold(budget, llm, 1), never)
    permit.settle(0, replace(ANSWER, usage=Usage(prompt_tokens=1, completion_tokens=250)))
    permit.close()
    assert budget.spent_usd == 0.5
    with ExitStack() as stack:
        again = ChunkPermit(caller, hold(budget, llm, 2), never)
        stack.callback(again.close)
        assert len(again.starts_s) == 2, "what was not asked costs nothing"


def test_requests_of_a_chunk_are_spaced_and_those_that_would_start_too_late_are_left() -> None:
    clock = FakeClock()
    caller = _caller(ListedProvider([]), clock)
    caller.limiter.apply_limits(None, requests_per_minute=240)
    budget, llm = Budget(), caller.llm
    first = ChunkPermit(caller, hold(budget, llm, 9), never)
    assert first.starts_s == (0.0, 0.25, 0.5, 0.75, 1.0)
    second = ChunkPermit(caller, hold(budget, llm, 2), never)
    assert clock.seconds == 1.25, "the next chunk starts behind the last request of the first"
    assert second.starts_s == (0.0, 0.25)


def test_a_chunk_holds_one_place_until_nothing_more_is_asked() -> None:
    caller = _caller(ListedProvider([]), FakeClock())
    caller.limiter.apply_limits(1, None)
    answers = iter([False, True])
    permit = ChunkPermit(caller, hold(Budget(), caller.llm, 3), never)
    with pytest.raises(RunCancelledError):
        ChunkPermit(caller, hold(Budget(), caller.llm, 3), lambda: next(answers))
    permit.leave()
    assert len(ChunkPermit(caller, hold(Budget(), caller.llm, 3), never).starts_s) == 3


def test_a_dead_endpoint_gets_no_chunk() -> None:
    caller = _caller(ListedProvider([]), FakeClock())
    caller.limiter.close(_error(FailureKind.AUTH))
    budget = Budget(1.0)
    with pytest.raises(ProviderError):
        ChunkPermit(caller, hold(budget, caller.llm, 2), never)
