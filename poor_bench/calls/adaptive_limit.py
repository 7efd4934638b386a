"""How many requests, and how many a second, an endpoint of unknown limits bears; pure.

Two numbers grow while nothing speaks against it: requests at once, and requests a second. The
second one is found by bisection: between the highest pace that was borne and the lowest one that
was refused. Rising latency ends the growth of the first one, and what the server tells in its
headers bounds the second one.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

from poor_bench.models.completion import Allowance

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
_SHORTEST_ROUND = 8
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
