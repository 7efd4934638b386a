"""Money and calls that may be spent on models: nothing is begun that would exceed a limit."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from poor_bench.errors import CallLimitError, ConfigError, CostLimitError
from poor_bench.models.completion import Completion, Message, cost_usd, estimate_cost_usd
from poor_bench.models.llm import LLM


class _HasCost(Protocol):
    @property
    def cost_usd(self) -> float | None: ...


Priced = TypeVar("Priced", bound=_HasCost)


@dataclass(slots=True)
class _Seen:
    """Replies of one LLM so far."""

    n_replies: int = 0
    tokens: int = 0

    def predict_tokens(self) -> int | None:
        return self.tokens // self.n_replies if self.n_replies else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """Limits of what is asked; None means no limit."""

    n_calls: int | None = None
    """Calls of any model."""
    cost_usd: float | None = None


class Budget:
    """Money and calls: what was spent, what is under way, and what is left; thread-safe.

    Money is held for single requests (`hold_request`), whose cost is estimated by the length of the
    prompt and by the LLM's replies so far, or for a piece of work of several requests that is worth
    nothing when it breaks off (`hold`). LLMs without prices count as free: see
    `require_prices`. Calls are counted by whoever knows how many a step takes (`count_calls`),
    before the step is begun (`require_calls`).

    Attributes:
        limit_usd: Most US dollars to spend.
        limit_calls: Most calls; None for no limit.
    """

    def __init__(
        self,
        limit_usd: float = math.inf,
        limit_calls: int | None = None,
        *,
        spent_usd: float = 0.0,
        n_calls: int = 0,
    ) -> None:
        """Start counting.

        Args:
            limit_usd: Most US dollars to spend, earlier ones included.
            limit_calls: Most calls, earlier ones included; None for no limit.
            spent_usd: What was spent before.
            n_calls: Calls that were made before.
        """
        self.limit_usd = limit_usd
        self.limit_calls = limit_calls
        self._spent_usd = spent_usd
        self._held_usd = 0.0
        self._reserved_usd = 0.0
        self._n_calls = n_calls
        self._n_reserved_calls = 0
        self._n_refused = 0
        self._n_replies = 0
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)
        self._lock = threading.Lock()

    @property
    def is_limited(self) -> bool:
        """True if there is a limit of money."""
        return self.limit_usd < math.inf

    @property
    def spent_usd(self) -> float:
        """Cost of all replies so far."""
        return self._spent_usd

    @property
    def n_replies(self) -> int:
        """Requests that were paid for."""
        return self._n_replies

    @property
    def is_reached(self) -> bool:
        """True if the limit of money kept something from being asked."""
        return self._n_refused > 0

    @property
    def n_refused(self) -> int:
        """Requests and pieces of work that the limit of money kept from being started."""
        return self._n_refused

    @property
    def n_calls(self) -> int:
        """Calls that were counted."""
        return self._n_calls

    @property
    def n_calls_left(self) -> int | None:
        """Calls that may be made now, at least 0; None without a limit."""
        if self.limit_calls is None:
            return None
        return max(0, self.limit_calls - self._n_calls - self._n_reserved_calls)

    def __str__(self) -> str:
        from poor_bench.metrics import cost_text

        return f"{cost_text(self._spent_usd)} of {cost_text(self.limit_usd)} spent"

    def count_calls(self, n_calls: int) -> None:
        """Count calls that were made."""
        with self._lock:
            self._n_calls += n_calls

    def require_calls(self, n_calls: int) -> None:
        """Check that some calls can be made without those that are reserved.

        Raises:
            CallLimitError: If they cannot; the step that needs them must not be begun.
        """
        n_left = self.n_calls_left
        if n_left is None or n_calls <= max(0, n_left):
            return
        reserved = self._n_reserved_calls
        kept = f" and {reserved} are reserved" if reserved else ""
        used = f"{self._n_calls} of {self.limit_calls} calls are used"
        raise CallLimitError(f"{used}{kept}; the next step needs {n_calls}")

    @contextmanager
    def reserve(self, n_calls: int, share_usd: float) -> Iterator[None]:
        """Keep calls, and a share of the money that is left, for what comes afterwards."""
        left_usd = self.limit_usd - self._spent_usd
        self._reserved_usd = share_usd * left_usd if self.is_limited else 0.0
        self._n_reserved_calls = n_calls
        try:
            yield
        finally:
            self._reserved_usd = 0.0
            self._n_reserved_calls = 0

    @contextmanager
    def hold_request(
        self, llm: LLM, messages: Sequence[Message], max_tokens: int | None
    ) -> Iterator[Callable[[Completion], None]]:
        """Hold the money for one request; call what is returned with its completion.

        Raises:
            CostLimitError: If the request would cost too much; it must not be sent.
        """
        with self._lock:
            expected = self._seen[llm.id].predict_tokens()
        estimate = estimate_cost_usd(llm.prices, messages, max_tokens, expected) or 0.0
        with self.hold(estimate, f"the next request to {llm.id}") as settle:

            def pay(completion: Completion) -> None:
                settle(cost_usd(completion.usage, llm.prices))
                self._learn(llm, completion)

            yield pay

    @contextmanager
    def hold(
        self, estimate_usd: float, what: str = "the next step"
    ) -> Iterator[Callable[[float | None], None]]:
        """Hold the money for a piece of work; call what is returned with what it really cost.

        If the real cost is unknown (None), the estimate counts.

        Raises:
            CostLimitError: If the work might cost too much; it must not be begun.
        """
        with self._lock:
            most_usd = self.limit_usd - self._reserved_usd
            if estimate_usd and self._spent_usd + self._held_usd + estimate_usd > most_usd:
                self._n_refused += 1
                raise CostLimitError(f"{self}: {what} would exceed the limit")
            self._held_usd += estimate_usd
        try:
            yield lambda real_usd: self._spend(estimate_usd if real_usd is None else real_usd)
        finally:
            with self._lock:
                self._held_usd -= estimate_usd

    def run_within(self, estimate_usd: float, do: Callable[[], Priced]) -> Priced | None:
        """Do a piece of work and count what it cost; None if it might cost too much."""
        try:
            with self.hold(estimate_usd) as settle:
                done = do()
                settle(done.cost_usd)
        except CostLimitError:
            return None
        return done

    def _spend(self, usd: float) -> None:
        with self._lock:
            self._spent_usd += usd

    def _learn(self, llm: LLM, completion: Completion) -> None:
        with self._lock:
            self._n_replies += 1
            if completion.usage.completion_tokens is not None:
                self._seen[llm.id].n_replies += 1
                self._seen[llm.id].tokens += completion.usage.completion_tokens


def find_unpriced(llms: Iterable[LLM], is_local: Callable[[LLM], bool]) -> LLM | None:
    """Find the first hosted LLM without prices; None if there is none."""
    for llm in llms:
        is_priced = llm.prices.input is not None and llm.prices.output is not None
        if not is_priced and not is_local(llm):
            return llm
    return None


def require_prices(llms: Iterable[LLM], is_local: Callable[[LLM], bool]) -> None:
    """Refuse a cost limit if a hosted LLM has no prices.

    Raises:
        ConfigError: If there is such an LLM.
    """
    llm = find_unpriced(llms, is_local)
    if llm is not None:
        raise ConfigError(
            f"--max-cost needs the prices of {llm.id}",
            hint='add "prices": {"input": ..., "output": ...} to its entry in llms.json',
        )
