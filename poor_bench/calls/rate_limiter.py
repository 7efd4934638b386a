"""Lets requests through to one endpoint: as many at once, and a second, as its limit allows."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from poor_bench.calls.adaptive_limit import AdaptiveLimit
from poor_bench.calls.limits import Limit, SetLimit
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Completion
from poor_bench.ports import Clock

_CHECK_S = 0.1


class RateLimiter:
    """Places and starts for the requests to one endpoint; safe to use from several threads.

    Where nobody asks for a limit and the endpoint is one of many users, `search` lets an
    `AdaptiveLimit` find what it bears.
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
        self._limit: Limit = SetLimit(concurrency)
        self._asked: int | None = None
        self._asked_pace = math.inf
        self._clock = clock
        self._next_start = clock.monotonic()
        self._inside = 0
        self._condition = threading.Condition()
        self._closed: ProviderError | None = None

    def search(self) -> None:
        """Find the endpoint's limits from now on, unless an LLM asks for a concurrency."""
        if self._asked is None:
            self._limit = AdaptiveLimit(self._clock.monotonic())

    @property
    def concurrency(self) -> int:
        """Requests that are let through at once just now."""
        return self._limit.at_once * self._n_servers()

    @property
    def full_concurrency(self) -> int:
        """Requests that are let through at once while the endpoint refuses none."""
        return self._limit.full_at_once * self._n_servers()

    @property
    def found_limits(self) -> tuple[int, float] | None:
        """Requests at once and a second that a search lets through; None without a search."""
        if not isinstance(self._limit, AdaptiveLimit):
            return None
        return self._limit.at_once, self._pace

    @property
    def _pace(self) -> float:
        return min(self._limit.pace, self._asked_pace * self._n_servers())

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
                self._limit = SetLimit(self._asked)
            if requests_per_minute:
                self._asked_pace = min(self._asked_pace, requests_per_minute / 60)

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
        with self._hold_place(cancelled):
            self._wait_for_turn(cancelled)
            started = self._clock.monotonic()
            try:
                yield
            finally:
                with self._condition:
                    self._limit.note_held(self._clock.monotonic() - started)

    @contextmanager
    def _hold_place(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        with self._condition:
            while self._closed is None and self._inside >= self.concurrency:
                if cancelled():
                    raise RunCancelledError("the run was stopped")
                self._condition.wait(_CHECK_S)
            if self._closed is not None:
                raise self._closed
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify()

    @property
    def chunk_s(self) -> float:
        """Seconds within which the requests of a chunk start."""
        return self._limit.chunk_s

    def take_starts(self, most: int) -> list[float]:
        """Take the starts of further requests that the holder of a place sends after its first.

        Returns:
            Seconds from now, at most `most` of them and none of more than a chunk may last.
        """
        now, starts = self._clock.monotonic(), list[float]()
        while len(starts) < most and self._next_start - now <= self.chunk_s:
            starts.append(max(0.0, self._take_turn() - now))
        return starts

    def record_success(self, completion: Completion | None = None) -> None:
        """Tell that a request went well, and what it brought."""
        with self._condition:
            self._limit.note_success(self._clock.monotonic(), completion)
            self._condition.notify_all()

    def rate_limited(self, retry_after_s: float | None = None) -> None:
        """Tell that the endpoint answered 429, and for how long it asked to wait."""
        with self._condition:
            self._limit.note_refusal(self._clock.monotonic(), retry_after_s)
            self._next_start = max(self._next_start, self._limit.paused_until)

    def _wait_for_turn(self, cancelled: Callable[[], bool]) -> None:
        """Wait for one of the evenly spaced starts; for another one if a pause comes before it."""
        while True:
            start = self._take_turn()
            self._clock.wait(max(0.0, start - self._clock.monotonic()), cancelled)
            if cancelled():
                raise RunCancelledError("the run was stopped")
            with self._condition:
                if start >= self._limit.paused_until:
                    return

    def _take_turn(self) -> float:
        """Take the next start; return the moment on the clock."""
        with self._condition:
            now, limit = self._clock.monotonic(), self._limit
            turn = max(now - limit.catch_up_s, self._next_start, limit.paused_until)
            self._next_start = turn + 1 / self._pace
            start = max(now, turn)
            limit.note_sent(start)
            return start
