"""What a search has spent, and what it may spend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.tuning.stopping import SearchStoppedError, StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a search may spend; None means as much as it takes."""

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
        """Calls that are kept back for the end of the search."""
        self._lock = threading.Lock()

    def note(self, cost_usd: float | None, n_calls: int = 1) -> None:
        """Count calls; their cost is None where the LLM has no price."""
        with self._lock:
            self.n_calls += n_calls
            self.cost_usd += cost_usd or 0.0

    def require(self, n_calls: int) -> None:
        """Make sure that so many calls and the reserve fit into the limits.

        What they will cost is estimated by the mean of the calls so far.

        Raises:
            SearchStoppedError: If they do not.
        """
        wanted = n_calls + self.reserve if n_calls else 0
        most = self.limits.n_calls
        if most is not None and self.n_calls + wanted > most:
            message = f"{self.n_calls} of {most} calls are used; {wanted} more do not fit"
            raise SearchStoppedError(StopReason.BUDGET, message)
        allowed = self.limits.cost_usd
        expected = self.cost_usd + wanted * self.mean_cost_usd
        if allowed is not None and wanted and expected > allowed:
            message = f"${self.cost_usd:.4f} of ${allowed:.4f} are spent; the next step is too much"
            raise SearchStoppedError(StopReason.COST, message)

    @property
    def mean_cost_usd(self) -> float:
        """US dollars per call so far; 0 before the first."""
        return self.cost_usd / self.n_calls if self.n_calls else 0.0

    @property
    def n_left(self) -> int | None:
        """Calls that are left beside the reserve, at least 0; None where nothing limits them."""
        if self.limits.n_calls is None:
            return None
        return max(0, self.limits.n_calls - self.n_calls - self.reserve)


def require_prices(llms: Iterable[LLM], limits: Limits, is_local: Callable[[LLM], bool]) -> None:
    """Refuse a limit of money where an LLM costs money and nobody knows how much.

    Raises:
        ConfigError: If there is such a limit and such an LLM.
    """
    if limits.cost_usd is None:
        return
    for llm in llms:
        has_prices = llm.prices.input is not None and llm.prices.output is not None
        if not has_prices and not is_local(llm):
            raise ConfigError(
                f"--max-cost cannot be kept: the prices of {llm.id} are not known",
                hint='Add "prices": {"input": ..., "output": ...} to its entry in llms.json.',
            )
