"""Searches what an endpoint bears where nobody sets a limit.

Two numbers grow while nothing speaks against it: requests at once, and requests a second. The
second one is found by bisection: between the highest pace that was borne and the lowest one that
was refused. Rising latency ends the growth of the first one, and what the server tells in its
headers bounds the second one.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import dataclass, field

from poor_bench.calls.limits import SHORTEST_ROUND
from poor_bench.models.completion import Allowance, Completion

START_AT_ONCE = 4
MOST_AT_ONCE = 64
_START_PACE = 10.0
_LOWEST_PACE = 0.1
"""Requests a second; a search that went lower would learn nothing more for minutes."""
_GROWTH = 1.5
_CLOSE = 1.04
"""Ratio of the refused pace to the borne one below which the search rests."""
_RISE = 2.0
"""Latency against the best round's at which more requests at once only wait longer."""
_USED = 0.75
"""Share of a limit that must be used in a round before the limit grows."""
_MOST_HELD = 3.0
"""Places held, for each request that the server is answering, above which more only wait here."""
_ROUND_S = 1.0
_SHORTEST_PAUSE_S = 0.05
_LONGEST_OWN_PAUSE_S = 0.4
_LONGEST_PAUSE_S = 60.0
_REST_S = 10.0
_RETRY = 1.1
"""After a rest, paces up to so many times the borne one are tried again: limits change."""
_QUIET_S = 1.5
"""Seconds after a pause from which on a refusal is the first one of a row."""
_CUT = 0.95
"""What is left of a pace that was borne before it was refused; squared each time in a row."""
_DEEPEST_CUT = 0.5
_TOLERATED_SHARE = 0.01
"""Share of refusals at which a search that rests goes on resting: requests arrive unevenly."""
_MEMORY = 200
"""Requests over which that share is taken."""
_SCARCE = 0.2
"""Share of an allowance below which its refill bounds the pace."""


@dataclass(slots=True)
class _Round:
    """What happened since the limits were changed last."""

    started_at: float
    n_sent: int = 0
    held_s: float = 0.0
    replies_s: float = 0.0
    first_tokens_s: list[float] = field(default_factory=list)


class AdaptiveLimit:
    """Searches the limits of one endpoint; see `Limit`. Times are of any clock."""

    catch_up_s = 0.05
    chunk_s = 0.1

    def __init__(self, now: float) -> None:
        self._at_once = float(START_AT_ONCE)
        self._pace = _START_PACE
        self._borne = 0.0
        self._refused = math.inf
        self._told_pace = math.inf
        self._refused_at = -math.inf
        self._best_latency_s = math.inf
        self._may_grow = True
        self._pause_s = _SHORTEST_PAUSE_S
        self._cut = _CUT
        self._is_answered = True
        """Since the last refusal, and by a request that was sent after it."""
        self._refused_share = 0.0
        self._starts = deque[float]()
        """Of the last second, and those that are to come."""
        self._round = _Round(now)
        self.paused_until = now

    @property
    def at_once(self) -> int:
        """Requests that the endpoint gets at once."""
        return int(self._at_once)

    @property
    def full_at_once(self) -> int:
        """Requests that it gets at once: a refusal slows the pace only."""
        return self.at_once

    @property
    def pace(self) -> float:
        """Requests a second that the endpoint gets."""
        return min(self._pace, self._told_pace)

    def note_sent(self, start: float) -> None:
        """Count a request, and when it is sent."""
        self._round.n_sent += 1
        self._refused_share *= 1 - 1 / _MEMORY
        self._starts.append(start)
        while self._starts[0] <= start - 2 * _ROUND_S:
            self._starts.popleft()

    def note_held(self, seconds: float) -> None:
        """Take note of how long a request took of its place, what surrounds it included."""
        self._round.held_s += seconds

    def note_success(self, now: float, completion: Completion | None) -> None:
        """Take note of a reply: how long its first token took, and what the server tells."""
        if completion is None:
            return
        timing = completion.timing
        if now - timing.total_ms / 1000 >= self.paused_until:
            self._is_answered = True
        first_ms = timing.total_ms if timing.first_token_ms is None else timing.first_token_ms
        self._round.first_tokens_s.append(first_ms / 1000)
        self._round.replies_s += timing.total_ms / 1000
        if completion.allowance is not None:
            self._note_allowance(completion.allowance)
        n_enough = max(SHORTEST_ROUND, self.at_once)
        has_enough = len(self._round.first_tokens_s) >= n_enough
        if has_enough and now - self._round.started_at >= _ROUND_S:
            self._end_round(now)

    def note_refusal(self, now: float, retry_after_s: float | None = None) -> None:
        """Take note of a 429: go back to what was borne, after a pause."""
        if now < self.paused_until:
            return  # sent before the pause
        self._refused_share += 1 / _MEMORY
        if self._is_answered and not self._is_tolerable():
            self._slow_down(now)
        self._pause(now, retry_after_s)

    def _is_tolerable(self) -> bool:
        is_resting = self._pace <= self._borne and self._refused <= _CLOSE * self._borne
        return is_resting and self._refused_share <= _TOLERATED_SHARE

    def _slow_down(self, now: float) -> None:
        refused = self._measure_refused_pace(now)
        self._refused_at, self._refused = now, min(self._refused, refused)
        if self._borne >= min(self._pace, self._refused):
            self._borne = self._cut * min(self._pace, self._refused)
            self._cut = max(_DEEPEST_CUT, self._cut**2)
        self._pace = max(_LOWEST_PACE, self._borne or self._refused / _GROWTH)
        self._round = _Round(now)

    def _pause(self, now: float, asked_s: float | None) -> None:
        """Pause as long as asked; otherwise a moment, and longer each time in a row.

        Longer waits are for the retries of single requests, which give up in time.
        """
        if asked_s is None or asked_s > _LONGEST_PAUSE_S:
            asked_s = self._pause_s
        self._pause_s = min(2 * self._pause_s, _LONGEST_OWN_PAUSE_S)
        self._is_answered = False
        self.paused_until = now + asked_s

    def _note_allowance(self, allowance: Allowance) -> None:
        """Bound the pace by what the server says that it refills."""
        if allowance.remaining >= _SCARCE * allowance.limit or allowance.reset_s <= 0:
            self._told_pace = math.inf
        else:
            used = allowance.limit - allowance.remaining
            self._told_pace = max(_LOWEST_PACE, 0.95 * used / allowance.reset_s)

    def _measure_refused_pace(self, now: float) -> float:
        """Requests a second that were sent when one was refused."""
        elapsed_s = now - self._round.started_at
        if elapsed_s < _ROUND_S:
            return self._pace
        n_of_late = sum(now - _ROUND_S < start <= now for start in self._starts)
        sent = max(n_of_late / _ROUND_S, self._round.n_sent / elapsed_s)
        return min(self._pace, max(_LOWEST_PACE, sent))

    def _end_round(self, now: float) -> None:
        if now - self.paused_until >= _QUIET_S:
            self._cut, self._pause_s = _CUT, _SHORTEST_PAUSE_S
        elapsed_s = now - self._round.started_at
        sent = min(self._pace, max(_LOWEST_PACE, self._round.n_sent / elapsed_s))
        self._borne = max(self._borne, sent)
        n_held, n_answered = self._round.held_s / elapsed_s, self._round.replies_s / elapsed_s
        is_of_use = self._at_once < START_AT_ONCE + _MOST_HELD * n_answered
        if n_held >= _USED * self._at_once and is_of_use:
            self._widen(statistics.median(self._round.first_tokens_s))
        if sent >= _USED * self.pace:
            self._pace = self._choose_pace(now)
        self._round = _Round(now)

    def _choose_pace(self, now: float) -> float:
        if math.isinf(self._refused):
            return self._pace * _GROWTH
        if now - self._refused_at >= _REST_S:
            self._refused_at, self._refused = now, max(self._refused, _RETRY * self._borne)
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
