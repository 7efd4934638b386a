"""How many requests, and how many a second, one endpoint gets: a limit that is set or searched.

`AdaptiveLimit` searches where nobody sets one. Two numbers grow while nothing speaks against it:
requests at once, and requests a second. The second one is found by bisection: between the highest
pace that was borne and the lowest one that was refused. Rising latency ends the growth of the first
one, and what the server tells in its headers bounds the second one.
"""

from __future__ import annotations

import math
import statistics
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Allowance, Completion
from poor_bench.ports import Clock

_TOLERATED_SHARE = 0.2
"""Refused answers that ask for no cut: eight in a row are then rarer than one in 100,000."""
_SHORTEST_ROUND = 8
_CHECK_S = 0.1


class RateLimiter:
    """Lets at most `concurrency` requests through at a time, fewer while the endpoint answers 429.

    Answers are judged in rounds of twice the limit. A round with too many refusals cuts the limit
    by half their share, any other round raises it by one. So an endpoint that refuses at random
    keeps its speed, and one that can bear less is soon asked less.

    Where nobody asks for a limit and the endpoint is one of many users, `search` lets an
    `AdaptiveLimit` find what it bears.

    Source:
        The cut by half the marked share is that of DCTCP, Alizadeh et al. 2010.
    """

    def __init__(
        self, concurrency: int, clock: Clock, n_servers: Callable[[], int] = lambda: 1
    ) -> None:
        """Start without requests under way.

        Args:
            concurrency: Requests at once unless a model asks for another limit, at least 1.
            clock: Tells the time and waits.
            n_servers: Like servers behind the endpoint just now, each with its limits; at least 1.
        """
        self._n_servers = n_servers
        self._full = concurrency
        self._asked: int | None = None
        self._present = float(concurrency)
        self._search: AdaptiveLimit | None = None
        self._clock = clock
        self._spacing_s = 0.0
        self._next_start = clock.monotonic()
        self._inside = 0
        self._n_answers = 0
        self._n_refused = 0
        self._condition = threading.Condition()
        self._closed: ProviderError | None = None

    def search(self) -> None:
        """Find the endpoint's limits from now on, unless an LLM asks for a concurrency."""
        if self._asked is None:
            self._search = AdaptiveLimit(self._clock.monotonic())

    @property
    def concurrency(self) -> int:
        """Requests that are let through at once just now."""
        if self._search is not None:
            return self._search.at_once
        return int(self._present) * self._n_servers()

    @property
    def full_concurrency(self) -> int:
        """Requests that are let through at once while the endpoint refuses none."""
        if self._search is not None:
            return self._search.at_once
        return self._full * self._n_servers()

    @property
    def list_found_limits(self) -> tuple[int, float] | None:
        """Requests at once and a second that a search lets through; None without a search."""
        search = self._search
        if search is None:
            return None
        asked = 1 / self._spacing_s if self._spacing_s else search.pace
        return search.at_once, min(asked, search.pace)

    def apply_limits(self, concurrency: int | None, requests_per_minute: float | None) -> None:
        """Keep to the limits that one more LLM of this endpoint asks for.

        Of several that ask, the strictest counts.

        Args:
            concurrency: Requests at once, at least 1; None asks for nothing.
            requests_per_minute: Spaces the requests evenly; None asks for nothing.
        """
        with self._condition:
            if concurrency is not None:
                self._asked = min(self._asked or concurrency, concurrency)
                self._full = self._asked
                self._search = None
                self._present = float(self._full)
            if requests_per_minute:
                self._spacing_s = max(self._spacing_s, 60.0 / requests_per_minute)

    def close(self, reason: ProviderError) -> None:
        """Refuse all requests from now on: the endpoint is dead."""
        with self._condition:
            self._closed = self._closed or reason
            self._condition.notify_all()

    @property
    def closed_by(self) -> ProviderError | None:
        """Why the endpoint is dead; None while it is not."""
        return self._closed

    @contextmanager
    def permit(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Hold one of the places while a request is under way.

        Raises:
            ProviderError: If the endpoint is dead.
            RunCancelledError: If `cancelled()` turned true while waiting.
        """
        self._enter(cancelled)
        try:
            self._wait_for_turn(cancelled)
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify()

    def take_starts(self, most: int, within_s: float) -> list[float]:
        """Take the starts of further requests that the holder of a place sends after its first.

        Returns:
            Seconds from now, at most `most` of them and none of more than `within_s`.
        """
        now, starts = self._clock.monotonic(), list[float]()
        while len(starts) < most and self._next_start - now <= within_s:
            starts.append(max(0.0, self._take_turn() - now))
        return starts

    def record_success(self, completion: Completion | None = None) -> None:
        """Tell that a request went well, and what it brought."""
        search = self._search
        if search is None or completion is None:
            self._count_answer(n_refused=0)
            return
        timing = completion.timing
        first_token_s = None if timing.first_token_ms is None else timing.first_token_ms / 1000
        with self._condition:
            now = self._clock.monotonic()
            search.note_success(now, timing.total_ms / 1000, first_token_s)
            if completion.allowance is not None:
                search.note_allowance(completion.allowance)
            self._condition.notify_all()

    def rate_limited(self, retry_after_s: float | None = None) -> None:
        """Tell that the endpoint answered 429, and for how long it asked to wait."""
        search = self._search
        if search is None:
            self._count_answer(n_refused=1)
            return
        with self._condition:
            search.note_refusal(self._clock.monotonic(), retry_after_s)
            self._next_start = search.paused_until

    def _count_answer(self, n_refused: int) -> None:
        with self._condition:
            self._n_answers += 1
            self._n_refused += n_refused
            if self._n_answers >= max(_SHORTEST_ROUND, 2 * int(self._present)):
                self._adapt(self._n_refused / self._n_answers)
                self._n_answers = self._n_refused = 0

    def _adapt(self, refused_share: float) -> None:
        if refused_share > _TOLERATED_SHARE:
            self._present = max(1.0, self._present * (1 - refused_share / 2))
        elif self._present < self._full:
            self._present = min(self._present + 1, float(self._full))
            self._condition.notify()

    def _enter(self, cancelled: Callable[[], bool]) -> None:
        with self._condition:
            while self._closed is None and self._inside >= self.concurrency:
                if cancelled():
                    raise RunCancelledError("the run was stopped")
                self._condition.wait(_CHECK_S)
            if self._closed is not None:
                raise self._closed
            self._inside += 1

    def _wait_for_turn(self, cancelled: Callable[[], bool]) -> None:
        """Wait for one of the evenly spaced starts; for another one if a pause comes before it."""
        while True:
            start = self._take_turn()
            self._clock.wait(max(0.0, start - self._clock.monotonic()), cancelled)
            if cancelled():
                raise RunCancelledError("the run was stopped")
            with self._condition:
                if self._search is None or start >= self._search.paused_until:
                    return

    def _take_turn(self) -> float:
        """Take the next start; return the moment on the clock."""
        with self._condition:
            start = self._clock.monotonic()
            spacing_s = self._spacing_s / self._n_servers()
            if self._search is not None:
                self._search.note_sent()
                start = max(start, self._search.paused_until)
                spacing_s = max(spacing_s, 1 / self._search.pace)
            if spacing_s:
                start = max(start, self._next_start)
                self._next_start = start + spacing_s
            return start


START_AT_ONCE = 4
MOST_AT_ONCE = 64
_START_PACE = 10.0
_LOWEST_PACE = 0.1
"""Requests a second; a search that went lower would learn nothing more for minutes."""
_GROWTH = 1.5
_CLOSE = 1.04
"""Ratio of the refused pace to the borne one below which the search ends."""
_RISE = 2.0
"""Latency against the best round's at which more requests at once only wait longer."""
_USED = 0.75
"""Share of a limit that must be used in a round before the limit grows."""
_ROUND_S = 1.0
_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 60.0
_FORGET_S = 30.0
_SCARCE = 0.2
"""Share of an allowance below which its refill bounds the pace."""


@dataclass(slots=True)
class _Round:
    """What happened since the limits were changed last."""

    started_at: float
    n_sent: int = 0
    latencies_s: list[float] = field(default_factory=list)
    first_tokens_s: list[float] = field(default_factory=list)


class AdaptiveLimit:
    """Searches the limits of one endpoint; times are seconds of any clock."""

    def __init__(self, now: float) -> None:
        self._at_once = float(START_AT_ONCE)
        self._pace = _START_PACE
        self._borne = 0.0
        self._refused = math.inf
        self._told_pace = math.inf
        self._refused_at = -math.inf
        self._best_latency_s = math.inf
        self._may_grow = True
        self._round = _Round(now)
        self.paused_until = now
        """No request is to be sent before."""

    @property
    def at_once(self) -> int:
        """Requests that the endpoint gets at once."""
        return int(self._at_once)

    @property
    def pace(self) -> float:
        """Requests a second that the endpoint gets."""
        return min(self._pace, self._told_pace)

    def note_sent(self) -> None:
        """Count a request."""
        self._round.n_sent += 1

    def note_success(self, now: float, latency_s: float, first_token_s: float | None) -> None:
        """Take note of a reply: how long it took, and its first token where that is known."""
        self._round.latencies_s.append(latency_s)
        self._round.first_tokens_s.append(latency_s if first_token_s is None else first_token_s)
        n_enough = max(_SHORTEST_ROUND, self.at_once)
        if now - self._round.started_at >= _ROUND_S and len(self._round.latencies_s) >= n_enough:
            self._end_round(now)

    def note_refusal(self, now: float, retry_after_s: float | None = None) -> None:
        """Take note of a 429: go back to what was borne, after a pause."""
        if now < self.paused_until:
            return  # sent before the pause
        self._refused_at = now
        self._refused = min(self._refused, self._compute_sent_pace(now))
        if self._borne >= self._refused:
            self._borne = 0.85 * self._refused
        self._pace = max(_LOWEST_PACE, self._borne or self._refused / _GROWTH)
        asked_s = _PAUSE_S if retry_after_s is None else retry_after_s
        # Longer waits are for the retries of single requests, which give up in time.
        self.paused_until = now + (asked_s if asked_s <= _LONGEST_PAUSE_S else _PAUSE_S)
        self._round = _Round(self.paused_until)

    def note_allowance(self, allowance: Allowance) -> None:
        """Bound the pace by what the server says that it refills."""
        if allowance.remaining >= _SCARCE * allowance.limit or allowance.reset_s <= 0:
            self._told_pace = math.inf
        else:
            used = allowance.limit - allowance.remaining
            self._told_pace = max(_LOWEST_PACE, 0.95 * used / allowance.reset_s)

    def _compute_sent_pace(self, now: float) -> float:
        """Requests a second that were really sent in this round."""
        elapsed_s = now - self._round.started_at
        if elapsed_s < _ROUND_S:
            return self._pace
        # Nothing may have been sent yet in this round, when what is refused is from the last one.
        return min(self._pace, max(_LOWEST_PACE, self._round.n_sent / elapsed_s))

    def _end_round(self, now: float) -> None:
        sent = self._compute_sent_pace(now)
        latency_s = statistics.median(self._round.latencies_s)
        self._borne = max(self._borne, sent)
        if sent * latency_s >= _USED * self._at_once:  # Little's law: so many are under way
            self._widen(statistics.median(self._round.first_tokens_s))
        if sent >= _USED * self.pace:
            self._pace = self._next_pace(now)
        self._round = _Round(now)

    def _next_pace(self, now: float) -> float:
        if math.isinf(self._refused):
            return self._pace * _GROWTH
        if now - self._refused_at >= _FORGET_S:
            self._refused_at, self._refused = now, 1.25 * self._borne  # limits change
        if self._refused / self._borne <= _CLOSE:
            return self._borne
        return (self._borne + self._refused) / 2

    def _widen(self, latency_s: float) -> None:
        """Ask for more at once; go back a step, and stay there, where they only wait longer."""
        if latency_s > _RISE * self._best_latency_s:
            self._may_grow = False
            self._at_once = max(float(START_AT_ONCE), self._at_once / _GROWTH)
        elif self._may_grow:
            self._at_once = min(float(MOST_AT_ONCE), self._at_once * _GROWTH)
        self._best_latency_s = min(self._best_latency_s, latency_s)
