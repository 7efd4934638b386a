"""Spending of a search, and its limits.

Calls are counted here, and known before they are made. Money is the matter of
`poor_bench.calls.budget`, which every request passes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from poor_bench.calls.budget import Budget, require_prices
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.tuning.searches import SearchStoppedError, StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a search; None means no limit."""

    n_calls: int | None = None
    """Calls of any LLM."""
    cost_usd: float | None = None


class Spending:
    """Counts calls and money; used from several threads."""

    def __init__(self, limits: Limits, *, n_calls: int = 0, cost_usd: float = 0.0) -> None:
        """Start counting.

        Args:
            limits: What may be spent in all.
            n_calls: What was spent before.
            cost_usd: What was spent before.
        """
        self.limits = limits
        self.n_calls = n_calls
        self.cost_usd = cost_usd
        self.reserve = 0
        """Calls reserved for the final test."""
        self._lock = threading.Lock()

    def note(self, cost_usd: float | None, n_calls: int = 1) -> None:
        """Count calls; the cost is None without a price."""
        with self._lock:
            self.n_calls += n_calls
            self.cost_usd += cost_usd or 0.0

    def require(self, n_calls: int) -> None:
        """Check that the calls and the reserve fit into the limit.

        Raises:
            SearchStoppedError: If they do not.
        """
        most = self.limits.n_calls
        if most is None or not n_calls or self.n_calls + n_calls + self.reserve <= most:
            return
        kept = f" and {self.reserve} are reserved for the final test" if self.reserve else ""
        message = f"{self.n_calls} of {most} calls are used{kept}; the next step needs {n_calls}"
        raise SearchStoppedError(StopReason.BUDGET, message)

    @property
    def n_left(self) -> int | None:
        """Remaining calls without the reserve, at least 0; None without a limit."""
        if self.limits.n_calls is None:
            return None
        return max(0, self.limits.n_calls - self.n_calls - self.reserve)


def limit_money(
    limits: Limits, manager: LLMManager, llms: Iterable[LLM], spent_usd: float = 0.0
) -> None:
    """Limit a manager to the remaining money, if there is a limit.

    Raises:
        ConfigError: If one of the LLMs costs money and nobody knows how much.
    """
    if limits.cost_usd is None:
        return
    require_prices(llms, manager.is_local)
    manager.budget = Budget(max(0.0, limits.cost_usd - spent_usd))
