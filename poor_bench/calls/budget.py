"""Money that may be spent on LLMs: nothing new is asked once the limit would be exceeded."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from poor_bench.errors import ConfigError, CostLimitError
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd, estimated_cost_usd


class _HasCost(Protocol):
    @property
    def cost_usd(self) -> float | None: ...


Priced = TypeVar("Priced", bound=_HasCost)


@dataclass(slots=True)
class _Seen:
    """Replies of one LLM so far."""

    n_replies: int = 0
    tokens: int = 0

    def expected_tokens(self) -> int | None:
        return self.tokens // self.n_replies if self.n_replies else None


class Budget:
    """Counts what LLMs cost, requests under way included; used from several threads.

    Money is held for single requests (`paid`), whose cost is estimated by the length of the prompt
    and by the LLM's replies so far, or for a piece of work of several requests that is worth
    nothing when it breaks off (`holding`). LLMs without prices count as free: see
    `require_prices`.

    Attributes:
        limit_usd: Most US dollars to spend.
    """

    def __init__(self, limit_usd: float = math.inf) -> None:
        self.limit_usd = limit_usd
        self._spent_usd = 0.0
        self._held_usd = 0.0
        self._n_refused = 0
        self._n_replies = 0
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)
        self._lock = threading.Lock()

    @property
    def is_limited(self) -> bool:
        """True if there is a limit at all."""
        return self.limit_usd < math.inf

    @property
    def spent_usd(self) -> float:
        """What the replies so far have cost."""
        return self._spent_usd

    @property
    def n_replies(self) -> int:
        """Requests that were paid for."""
        return self._n_replies

    @property
    def is_reached(self) -> bool:
        """True if the limit kept something from being asked."""
        return self._n_refused > 0

    @property
    def n_refused(self) -> int:
        """Requests and pieces of work that the limit kept from being started."""
        return self._n_refused

    def __str__(self) -> str:
        return f"${self._spent_usd:.4f} of ${self.limit_usd:.4f} spent"

    @contextmanager
    def paid(
        self, llm: LLM, messages: Sequence[Message], max_tokens: int | None
    ) -> Iterator[Callable[[Completion], None]]:
        """Hold the money for one request; call what is returned with its completion.

        Raises:
            CostLimitError: If the request would cost too much; it must not be sent.
        """
        with self._lock:
            expected = self._seen[llm.id].expected_tokens()
        estimate = estimated_cost_usd(llm.prices, messages, max_tokens, expected) or 0.0
        with self.holding(estimate, f"the next request to {llm.id}") as settle:

            def pay(completion: Completion) -> None:
                settle(cost_usd(completion.usage, llm.prices))
                self._learn(llm, completion)

            yield pay

    @contextmanager
    def holding(
        self, estimate_usd: float, what: str = "the next step"
    ) -> Iterator[Callable[[float | None], None]]:
        """Hold the money for a piece of work; call what is returned with what it really cost.

        Where that is None, since nobody knows it, the estimate counts.

        Raises:
            CostLimitError: If the work might cost too much; it must not be begun.
        """
        with self._lock:
            if estimate_usd and self._spent_usd + self._held_usd + estimate_usd > self.limit_usd:
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
            with self.holding(estimate_usd) as settle:
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


def require_prices(llms: Iterable[LLM], is_local: Callable[[LLM], bool]) -> None:
    """Refuse to keep a limit of money where an LLM costs money and nobody knows how much.

    Raises:
        ConfigError: If there is such an LLM.
    """
    for llm in llms:
        is_priced = llm.prices.input is not None and llm.prices.output is not None
        if not is_priced and not is_local(llm):
            raise ConfigError(
                f"--max-cost needs the prices of {llm.id}",
                hint='add "prices": {"input": ..., "output": ...} to its entry in llms.json',
            )
