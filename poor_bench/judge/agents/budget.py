"""How much money a run may spend; work that might exceed it is not begun."""

from __future__ import annotations

import threading


class WorkBudget:
    """Counts the money that was spent and that is set aside; used from several threads."""

    def __init__(self, limit_usd: float | None = None) -> None:
        """Start with nothing spent.

        Args:
            limit_usd: Most US dollars to spend; None for as much as it takes.
        """
        self.limit_usd = limit_usd
        self.n_refused = 0
        """Pieces of work that were not begun."""
        self._taken_usd = 0.0
        self._lock = threading.Lock()

    def reserve(self, estimate_usd: float) -> bool:
        """Set money aside for a piece of work; return whether there is enough for it."""
        with self._lock:
            fits = self.limit_usd is None or self._taken_usd + estimate_usd <= self.limit_usd
            self._taken_usd += estimate_usd if fits else 0.0
            self.n_refused += not fits
            return fits

    def settle(self, estimate_usd: float, real_usd: float | None) -> None:
        """Put what a piece of work really cost in the place of what was set aside.

        Args:
            estimate_usd: What `reserve` was told.
            real_usd: None where it is not known: then the estimate stays.
        """
        with self._lock:
            self._taken_usd += 0.0 if real_usd is None else real_usd - estimate_usd
