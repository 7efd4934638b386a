"""What an endpoint may be sent: the interface of limits, and the limit that is set by people.

`AdaptiveLimit`, in a file of its own, is the one that is searched.
"""

from __future__ import annotations

import math
from typing import Protocol

from poor_bench.models.completion import Completion

_TOLERATED_SHARE = 0.2
"""Refused answers that ask for no cut: eight in a row are then rarer than one in 100,000."""
SHORTEST_ROUND = 8
"""Answers that are judged together, at least."""


class Limit(Protocol):
    """What an endpoint may be sent just now; learns from what comes of it. Times are in seconds."""

    catch_up_s: float
    """A request that is late by no more than this does not delay the ones behind it."""
    chunk_s: float
    """Requests that are sent as a chunk start within this time, so that they follow the limit."""
    paused_until: float
    """No request is to be sent before this moment."""

    @property
    def at_once(self) -> int:
        """Requests that the endpoint gets at once."""

    @property
    def full_at_once(self) -> int:
        """Requests that it gets at once while it refuses none."""

    @property
    def pace(self) -> float:
        """Requests a second that the endpoint gets."""

    def note_sent(self, start: float) -> None:
        """Count a request, and when it is sent."""

    def note_held(self, seconds: float) -> None:
        """Take note of how long a request took of its place."""

    def note_success(self, now: float, completion: Completion | None) -> None:
        """Take note of an answer."""

    def note_refusal(self, now: float, retry_after_s: float | None = None) -> None:
        """Take note of a 429, and of how long it asked to wait."""


class SetLimit:
    """At most so many requests at once, fewer while the endpoint answers 429.

    Answers are judged in rounds of twice the limit. A round with too many refusals cuts the limit
    by half their share, any other round raises it by one. So an endpoint that refuses at random
    keeps its speed, and one that can bear less is soon asked less.

    Source:
        The cut by half the marked share is that of DCTCP, Alizadeh et al. 2010.
    """

    catch_up_s = 0.0
    chunk_s = 1.0
    paused_until = -math.inf
    pace = math.inf

    def __init__(self, at_once: int) -> None:
        self.full_at_once = at_once
        self._present = float(at_once)
        self._n_answers = 0
        self._n_refused = 0

    @property
    def at_once(self) -> int:
        """Requests that the endpoint gets at once."""
        return int(self._present)

    def note_sent(self, start: float) -> None:
        """Learn nothing."""

    def note_held(self, seconds: float) -> None:
        """Learn nothing."""

    def note_success(self, now: float, completion: Completion | None) -> None:
        """Count an answer."""
        self._count(n_refused=0)

    def note_refusal(self, now: float, retry_after_s: float | None = None) -> None:
        """Count a refusal."""
        self._count(n_refused=1)

    def _count(self, n_refused: int) -> None:
        self._n_answers += 1
        self._n_refused += n_refused
        if self._n_answers >= max(SHORTEST_ROUND, 2 * self.at_once):
            self._adapt(self._n_refused / self._n_answers)
            self._n_answers = self._n_refused = 0

    def _adapt(self, refused_share: float) -> None:
        if refused_share > _TOLERATED_SHARE:
            self._present = max(1.0, self._present * (1 - refused_share / 2))
        else:
            self._present = min(self._present + 1, float(self.full_at_once))
