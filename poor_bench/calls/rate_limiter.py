"""How many requests, and how many a minute, one endpoint gets at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from poor_bench.calls.adaptive_limit import AdaptiveLimit
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import Completion
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
