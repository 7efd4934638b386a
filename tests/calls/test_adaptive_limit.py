"""The controller against simulated servers: no threads, no waiting, a clock that is a number."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from poor_bench.calls.adaptive_limit import (
    MOST_AT_ONCE,
    START_AT_ONCE,
    AdaptiveLimit,
)
from poor_bench.models.completion import Allowance

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
