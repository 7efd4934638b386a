from __future__ import annotations

import threading

import pytest

from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Completion, Timing
from poor_bench.models.failure import FailureKind
from tests.providers.fake_clock import FakeClock


def never() -> bool:
    return False


def test_no_more_than_the_limit_are_inside_at_once() -> None:
    limiter = RateLimiter(3, FakeClock())
    lock, inside, most = threading.Lock(), 0, 0
    everyone = threading.Barrier(3, timeout=10)

    def enter() -> None:
        nonlocal inside, most
        with limiter.permit(never):
            with lock:
                inside += 1
                most = max(most, inside)
            everyone.wait()
            with lock:
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert (inside, most) == (0, 3)


def _answer(limiter: RateLimiter, *, n_refused: int, of: int) -> None:
    for number in range(of):
        if number < n_refused:
            limiter.rate_limited()
        else:
            limiter.record_success()


def test_limit_falls_by_half_the_share_of_refusals_and_rises_again() -> None:
    limiter = RateLimiter(10, FakeClock())
    _answer(limiter, n_refused=20, of=20)
    assert limiter.concurrency == 5
    _answer(limiter, n_refused=4, of=10)
    assert limiter.concurrency == 4
    _answer(limiter, n_refused=0, of=100)
    assert (limiter.concurrency, limiter.full_concurrency) == (10, 10)


def test_few_refusals_cost_no_speed() -> None:
    limiter = RateLimiter(32, FakeClock())
    for _ in range(10):
        _answer(limiter, n_refused=1, of=10)
    assert limiter.concurrency == 32


def test_one_refusal_among_few_answers_is_no_reason_to_slow_down() -> None:
    limiter = RateLimiter(2, FakeClock())
    limiter.rate_limited()
    assert limiter.concurrency == 2


def test_limit_never_falls_below_one() -> None:
    limiter = RateLimiter(2, FakeClock())
    _answer(limiter, n_refused=200, of=200)
    assert limiter.concurrency == 1
    with limiter.permit(never):
        pass


def test_requests_per_minute_space_the_starts() -> None:
    clock = FakeClock()
    limiter = RateLimiter(8, clock)
    limiter.apply_limits(None, 30)
    starts = []
    for _ in range(4):
        with limiter.permit(never):
            starts.append(clock.seconds)
    assert starts == [0, 2, 4, 6]


def test_strictest_limit_of_an_endpoint_counts() -> None:
    limiter = RateLimiter(4, FakeClock())
    limiter.apply_limits(16, None)
    assert limiter.concurrency == 16
    limiter.apply_limits(2, None)
    limiter.apply_limits(8, None)
    assert limiter.concurrency == 2


def test_closed_limiter_lets_nobody_in_and_says_why() -> None:
    limiter = RateLimiter(1, FakeClock())
    reason = ProviderError("refused", kind=FailureKind.CONNECTION)
    limiter.close(reason)
    with pytest.raises(ProviderError) as raised, limiter.permit(never):
        pass
    assert raised.value is reason


def test_closing_wakes_those_who_wait() -> None:
    limiter = RateLimiter(1, FakeClock())
    outcomes: list[str] = []

    def enter() -> None:
        try:
            with limiter.permit(never):
                outcomes.append("in")
        except ProviderError:
            outcomes.append("refused")

    with limiter.permit(never):
        thread = threading.Thread(target=enter)
        thread.start()
        limiter.close(ProviderError("refused", kind=FailureKind.CONNECTION))
        thread.join(timeout=10)
    assert outcomes == ["refused"]


def test_cancelled_wait_raises() -> None:
    limiter = RateLimiter(1, FakeClock())
    with limiter.permit(never), pytest.raises(RunCancelledError), limiter.permit(lambda: True):
        pass


def _completion(total_ms: float = 100.0) -> Completion:
    return Completion(text="4", timing=Timing(total_ms=total_ms))


def _ask(limiter: RateLimiter, clock: FakeClock, n_requests: int) -> None:
    for _ in range(n_requests):
        with limiter.permit(never):
            clock.seconds += 0.1
        limiter.record_success(_completion())


def test_a_search_asks_ever_more_until_it_is_refused() -> None:
    clock = FakeClock()
    limiter = RateLimiter(1, clock)
    limiter.search()
    _ask(limiter, clock, 30)
    before = clock.seconds
    limiter.rate_limited()
    with limiter.permit(never):
        assert clock.seconds > before, "no pause"


def test_a_search_ends_where_a_concurrency_is_asked_for() -> None:
    clock = FakeClock()
    limiter = RateLimiter(1, clock)
    limiter.search()
    limiter.apply_limits(3, None)
    limiter.search()
    _ask(limiter, clock, 200)
    assert (limiter.concurrency, limiter.full_concurrency) == (3, 3)


def test_a_search_keeps_to_the_requests_per_minute_that_are_asked_for() -> None:
    clock = FakeClock()
    limiter = RateLimiter(1, clock)
    limiter.search()
    limiter.apply_limits(None, 60)
    _ask(limiter, clock, 21)
    assert clock.seconds >= 20


def test_limits_hold_for_each_of_several_servers() -> None:
    n_servers = [3]
    clock = FakeClock()
    limiter = RateLimiter(1, clock, lambda: n_servers[0])
    limiter.apply_limits(2, 60)
    assert limiter.concurrency == limiter.full_concurrency == 6
    for _ in range(4):
        with limiter.permit(never):
            pass
    assert round(clock.seconds, 6) == 1.0, "60 a minute from each of three"
    n_servers[0] = 1
    assert limiter.concurrency == 2
