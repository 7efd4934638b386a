from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from poor_bench.calls.caller import Caller, RetryPolicy
from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion, Message, Timing
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
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
