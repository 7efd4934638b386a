from __future__ import annotations

import heapq
import itertools
import random
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from poor_bench.calls.adaptive_limit import MOST_AT_ONCE, START_AT_ONCE, AdaptiveLimit
from poor_bench.models.completion import Allowance, Completion, Timing

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


class Simulation:
    """A client that obeys the limit, and whose requests arrive, and end, later than they should."""

    def __init__(
        self,
        admit: Admit,
        latency_s: Callable[[int], float],
        late_s: float,
        seed: int,
        held_s: float,
    ) -> None:
        self.limit = AdaptiveLimit(0.0)
        self.seen = Simulated()
        self._admit = admit
        self._latency_s = latency_s
        self._late_s = late_s
        self._held_s = held_s
        self._random = random.Random(seed)
        self._numbers = itertools.count()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._n_under_way = 0
        self._next_start = 0.0

    def run(self, until_s: float) -> None:
        now = 0.0
        while now < until_s:
            while self._events and self._events[0][0] <= now:
                at, _, happen = heapq.heappop(self._events)
                happen(at)
            now = self._send(now)

    def _send(self, now: float) -> float:
        """Send a request if the limit allows one; return when something can happen next."""
        limit = self.limit
        turn = max(now - limit.catch_up_s, self._next_start, limit.paused_until)
        if turn <= now and self._n_under_way < limit.at_once:
            limit.note_sent(now)
            self._next_start = turn + 1 / limit.pace
            self._n_under_way += 1
            self.seen.most_at_once = max(self.seen.most_at_once, self._n_under_way)
            self._plan(now + self._choose_delay(), lambda at: self._arrive(at, sent=now))
            return now
        return min([at for at, _, _ in self._events[:1]] + ([turn] if turn > now else []))

    def _arrive(self, now: float, sent: float) -> None:
        is_taken, latency_s = self._admit(now), self._latency_s(self._n_under_way)
        (self.seen.accepted if is_taken else self.seen.refused).append(now)
        ended = now + (latency_s if is_taken else 0.02) + self._held_s + self._choose_delay()
        self._plan(ended, lambda at: self._end(at, sent, latency_s if is_taken else None))

    def _end(self, now: float, sent: float, latency_s: float | None) -> None:
        self._n_under_way -= 1
        self.limit.note_held(now - sent)
        if latency_s is None:
            self.limit.note_refusal(now)
        else:
            self.limit.note_success(now, reply(latency_s))

    def _plan(self, at: float, happen: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (at, next(self._numbers), happen))

    def _choose_delay(self) -> float:
        return self._random.expovariate(1 / self._late_s) if self._late_s else 0.0


def reply(latency_s: float, allowance: Allowance | None = None) -> Completion:
    return Completion(text="4", timing=Timing(total_ms=1000 * latency_s), allowance=allowance)


def simulate(
    admit: Admit,
    latency_s: Callable[[int], float],
    until_s: float,
    late_s: float = 0.0,
    seed: int = 0,
    held_s: float = 0.0,
) -> tuple[AdaptiveLimit, Simulated]:
    simulation = Simulation(admit, latency_s, late_s, seed, held_s)
    simulation.run(until_s)
    return simulation.limit, simulation.seen


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


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    "make", [sliding_window, fixed_window, lambda rate: token_bucket(rate, rate)]
)
def test_it_is_found_as_well_where_a_busy_machine_delays_requests(
    make: Callable[[int], Admit],
) -> None:
    runs = [simulate(make(50), lambda _: 0.1, 40, late_s=0.02, seed=n)[1] for n in range(5)]
    assert statistics.median(seen.rate(10, 40) for seen in runs) >= 45
    assert statistics.median(seen.refused_share for seen in runs) < 0.02


@pytest.mark.parametrize(("latency_s", "held_s"), [(0.02, 0.1), (0.1, 0.3)])
def test_places_that_are_held_longer_than_a_reply_takes_do_not_slow_the_requests(
    latency_s: float, held_s: float
) -> None:
    _, seen = simulate(sliding_window(50), lambda _: latency_s, 40, held_s=held_s)
    assert seen.rate(10, 40) >= 45


def test_requests_that_wait_on_our_side_get_few_places_lest_they_all_arrive_at_once() -> None:
    limit, _ = simulate(sliding_window(50), lambda _: 0.1, 40, held_s=5.0)
    assert limit.at_once < 3 * START_AT_ONCE


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
        limit.note_sent(0.1)
    for _ in range(8):
        limit.note_success(2.0, reply(0.1))
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
    limit.note_success(0.1, reply(0.1, Allowance(limit=500, remaining=remaining, reset_s=reset_s)))
    assert limit.pace == pytest.approx(pace)
