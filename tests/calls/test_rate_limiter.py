from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from poor_bench.calls.rate_limiter import (
    MOST_AT_ONCE,
    START_AT_ONCE,
    AdaptiveLimit,
    RateLimiter,
)
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Allowance, Completion, Timing
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


Admit = Callable[[float], bool]


def sliding_window(per_second: int) -> Admit:
    taken: deque[float] = deque()

    def admit(now: float) -> bool:
        while taken and taken[0] <= now - 1:
            taken.popleft()
        if len(taken) >= per_second:
            return False
        taken.append(now)
        return True

    return admit


def fixed_window(per_second: int) -> Admit:
    counts: dict[int, int] = {}

    def admit(now: float) -> bool:
        counts[int(now)] = counts.get(int(now), 0) + 1
        return counts[int(now)] <= per_second

    return admit


def token_bucket(per_second: float, burst: float) -> Admit:
    state = [burst, 0.0]

    def admit(now: float) -> bool:
        state[0] = min(burst, state[0] + (now - state[1]) * per_second)
        state[1] = now
        if state[0] < 1:
            return False
        state[0] -= 1
        return True

    return admit


@dataclass
class Simulated:
    """What a client that obeys the controller did."""

    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    most_at_once: int = 0

    def rate(self, start: float, end: float) -> float:
        return sum(start <= moment < end for moment in self.accepted) / (end - start)

    @property
    def refused_share(self) -> float:
        return len(self.refused) / (len(self.refused) + len(self.accepted))


def simulate(
    admit: Admit, latency_s: Callable[[int], float], until_s: float
) -> tuple[AdaptiveLimit, Simulated]:
    limit, seen = AdaptiveLimit(0.0), Simulated()
    under_way: list[tuple[float, float, bool]] = []
    now = next_start = 0.0
    while now < until_s:
        while under_way and under_way[0][0] <= now:
            ended, sent, went_well = heapq.heappop(under_way)
            if went_well:
                limit.note_success(ended, ended - sent, None)
            else:
                limit.note_refusal(ended)
        start = max(next_start, limit.paused_until)
        if start <= now and len(under_way) < limit.at_once:
            limit.note_sent()
            next_start = max(start, now - 0.001) + 1 / limit.pace
            ok = admit(now)
            (seen.accepted if ok else seen.refused).append(now)
            ends = now + (latency_s(len(under_way)) if ok else 0.02)
            heapq.heappush(under_way, (ends, now, ok))
            seen.most_at_once = max(seen.most_at_once, len(under_way))
        else:
            waits = [under_way[0][0]] if under_way else []
            waits += [start] if start > now else []
            now = min(waits)
    return limit, seen


@pytest.mark.parametrize("latency_s", [0.02, 0.1, 0.5])
@pytest.mark.parametrize(
    "make", [sliding_window, fixed_window, lambda rate: token_bucket(rate, rate)]
)
def test_an_unknown_limit_of_50_a_second_is_found_in_10_s(
    make: Callable[[int], Admit], latency_s: float
) -> None:
    _, seen = simulate(make(50), lambda _: latency_s, 40)
    assert seen.rate(10, 40) >= 45
    assert seen.refused_share < 0.02


def test_without_a_limit_the_requests_at_once_grow_to_their_most() -> None:
    limit, seen = simulate(lambda _: True, lambda _: 1.0, 60)
    assert limit.at_once == seen.most_at_once == MOST_AT_ONCE


def test_rising_latency_ends_the_growth() -> None:
    limit, seen = simulate(lambda _: True, lambda n: 0.5 * max(1.0, n / 8), 60)
    assert START_AT_ONCE < limit.at_once <= 16
    assert seen.most_at_once <= 30


def test_the_pace_follows_a_limit_that_was_lowered() -> None:
    early, late = sliding_window(50), sliding_window(20)
    _, seen = simulate(lambda now: (early if now < 20 else late)(now), lambda _: 0.1, 60)
    assert 17 <= seen.rate(40, 60) <= 20
    assert seen.refused_share < 0.02


def test_the_pace_follows_a_limit_that_was_raised() -> None:
    early, late = sliding_window(20), sliding_window(50)
    _, seen = simulate(lambda now: (early if now < 20 else late)(now), lambda _: 0.1, 400)
    assert seen.rate(380, 400) >= 40


def test_a_pause_that_the_server_asks_for_is_kept() -> None:
    limit = AdaptiveLimit(0.0)
    limit.note_refusal(1.0, retry_after_s=7.0)
    assert limit.paused_until == 8.0


def test_refusals_of_requests_from_before_the_pause_count_once() -> None:
    limit = AdaptiveLimit(0.0)
    limit.note_refusal(1.0)
    pace = limit.pace
    limit.note_refusal(1.1)
    assert limit.pace == pace


def test_a_refusal_in_a_round_without_requests_leaves_a_pace() -> None:
    limit = AdaptiveLimit(0.0)
    for _ in range(9):
        limit.note_sent()
    for _ in range(8):
        limit.note_success(2.0, 0.1, None)
    for later in range(1, 50):
        limit.note_refusal(100.0 * later)
        assert limit.pace >= 0.1


@pytest.mark.parametrize(
    ("remaining", "reset_s", "pace"), [(499, 0.12, 10.0), (50, 900.0, 0.475), (0, 0.0, 10.0)]
)
def test_a_scarce_allowance_bounds_the_pace_by_its_refill(
    remaining: int, reset_s: float, pace: float
) -> None:
    limit = AdaptiveLimit(0.0)
    limit.note_allowance(Allowance(limit=500, remaining=remaining, reset_s=reset_s))
    assert limit.pace == pytest.approx(pace)
