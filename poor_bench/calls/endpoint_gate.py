"""How many requests, and how many a minute, one endpoint gets at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.ports import Clock

_CUT = 0.7
_CUT_PAUSE_S = 1.0
_CHECK_S = 0.1


class EndpointGate:
    """Lets at most `limit` requests through at a time, fewer while the endpoint answers 429.

    The limit falls by a third at most once a second, and rises by one after as many successes in a
    row as it lets through (additive increase, multiplicative decrease, as TCP does).
    """

    def __init__(self, limit: int, clock: Clock) -> None:
        """Open the gate.

        Args:
            limit: Requests at once while nobody asks for another limit, at least 1.
            clock: Tells the time and waits.
        """
        self._most = limit
        self._asked: int | None = None
        self._limit = float(limit)
        self._clock = clock
        self._spacing_s = 0.0
        self._next_start = clock.monotonic()
        self._cut_at = clock.monotonic() - _CUT_PAUSE_S
        self._inside = 0
        self._successes = 0
        self._condition = threading.Condition()
        self._closed: ProviderError | None = None

    @property
    def limit(self) -> int:
        """Requests that are let through at once just now."""
        return int(self._limit)

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
                self._most = self._asked
                self._limit = float(self._most)
            if requests_per_minute:
                self._spacing_s = max(self._spacing_s, 60.0 / requests_per_minute)

    def close(self, reason: ProviderError) -> None:
        """Let nobody in any more: the endpoint is dead."""
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
            self._clock.wait(self._wait_for_turn(), cancelled)
            if cancelled():
                raise RunCancelledError("the run was stopped")
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify()

    def succeeded(self) -> None:
        """Tell that a request went well."""
        if self._limit >= self._most:
            return
        with self._condition:
            self._successes += 1
            if self._successes >= self._limit:
                self._successes = 0
                self._limit = min(self._limit + 1, float(self._most))
                self._condition.notify()

    def rate_limited(self) -> None:
        """Tell that the endpoint answered 429."""
        now = self._clock.monotonic()
        with self._condition:
            self._successes = 0
            if now - self._cut_at >= _CUT_PAUSE_S:
                self._cut_at = now
                self._limit = max(1.0, self._limit * _CUT)

    def _enter(self, cancelled: Callable[[], bool]) -> None:
        with self._condition:
            while self._closed is None and self._inside >= int(self._limit):
                if cancelled():
                    raise RunCancelledError("the run was stopped")
                self._condition.wait(_CHECK_S)
            if self._closed is not None:
                raise self._closed
            self._inside += 1

    def _wait_for_turn(self) -> float:
        """Take the next start of the evenly spaced ones; return seconds until then."""
        if not self._spacing_s:
            return 0.0
        with self._condition:
            now = self._clock.monotonic()
            start = max(now, self._next_start)
            self._next_start = start + self._spacing_s
            return start - now
