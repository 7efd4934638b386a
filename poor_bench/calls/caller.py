"""Ask one provider until it answers: the clock, when to try again, the limits of its endpoint."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.errors import CostLimitError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Clock, Provider

_SLICE_S = 0.1


class SystemClock:
    """Time as the machine tells it; see `poor_bench.ports.Clock`."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def now_iso(self) -> str:
        """The present moment as ISO 8601 with milliseconds, UTC."""
        return datetime.now(UTC).isoformat(timespec="milliseconds")

    def wait(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Wait `seconds`, or until within a tenth of a second of `cancelled()` turning true."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not cancelled():
            time.sleep(min(left, _SLICE_S))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently a request is repeated."""

    max_attempts: Mapping[FailureKind, int] = field(
        default_factory=lambda: {
            FailureKind.RATE_LIMITED: 8,
            FailureKind.SERVER_ERROR: 5,
            FailureKind.CONNECTION: 4,
            FailureKind.TIMEOUT: 2,
            FailureKind.MALFORMED_REPLY: 2,
        }
    )
    """Requests in all for each kind of failure; kinds that are not named are not repeated."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    """Longest wait that we choose ourselves."""
    longest_retry_after_s: float = 120.0
    """A server that asks for more is not asked again."""

    def for_submitting(self) -> RetryPolicy:
        """Make the policy for what must not be done twice: only a refusal was surely not done."""
        most = self.max_attempts.get(FailureKind.RATE_LIMITED, 1)
        return replace(self, max_attempts={FailureKind.RATE_LIMITED: most})

    def for_loading(self) -> RetryPolicy:
        """Make the policy for loading a model ahead: less patient, as requests load it, too."""
        most = self.max_attempts.get(FailureKind.SERVER_ERROR, 1)
        fewer = {
            FailureKind.SERVER_ERROR: min(3, most),
            FailureKind.TIMEOUT: 1,
            FailureKind.MALFORMED_REPLY: 1,
        }
        return replace(self, max_attempts={**self.max_attempts, **fewer})


def compute_next_wait(
    policy: RetryPolicy, error: ProviderError, attempt: int, jitter: float
) -> float | None:
    """Compute how many seconds to wait before the request is sent again.

    Args:
        policy: The limits.
        error: What the last attempt ended with.
        attempt: How many attempts were made, at least 1.
        jitter: A random number in [0, 1), so that many requests do not come back together.

    Returns:
        Seconds, at least 0; None if the request must not be sent again.

    Example:
        >>> error = ProviderError("busy", kind=FailureKind.SERVER_ERROR)
        >>> compute_next_wait(RetryPolicy(), error, attempt=3, jitter=0.0)
        1.0
    """
    if attempt >= policy.max_attempts.get(error.kind, 1):
        return None
    if error.retry_after_s is not None:
        if error.retry_after_s > policy.longest_retry_after_s:
            return None
        return max(0.0, error.retry_after_s) * (1 + 0.1 * jitter)
    doubled = policy.first_wait_s * 2.0 ** (attempt - 1)
    return min(doubled, policy.longest_wait_s) * (0.5 + 0.5 * jitter)


Answer = TypeVar("Answer")


class Caller:
    """Sends requests to one LLM; retries what can succeed, gives up on what cannot."""

    def __init__(
        self,
        llm: LLM,
        provider: Provider,
        limiter: RateLimiter,
        clock: Clock,
        policy: RetryPolicy,
        rng: random.Random,
    ) -> None:
        self.llm = llm
        self.provider = provider
        self.limiter = limiter
        self._clock = clock
        self._policy = policy
        self._rng = rng
        self._n_waiting = 0
        self._lock = threading.Lock()

    @property
    def n_waiting(self) -> int:
        """Requests that wait just now to be sent again."""
        return self._n_waiting

    def complete(
        self,
        request: ChatRequest,
        cancelled: Callable[[], bool],
        failed: ProviderError | None = None,
    ) -> Completion:
        """Ask until there is a completion.

        Args:
            request: What to ask.
            cancelled: Asked again and again; true ends the call.
            failed: What the first attempt ended with, if it was made in a chunk.

        Raises:
            ProviderError: If it cannot be had; `attempts` says how often it was tried. An error
                that concerns the whole endpoint has closed its limiter.
            RunCancelledError: If `cancelled()` turned true.
        """
        control = CallControl(timeouts=self.llm.timeouts, cancelled=cancelled)
        return self.repeat(
            lambda: self.provider.complete(request, control), cancelled, failed=failed
        )

    def preload(self, control: CallControl) -> float | None:
        """Bring the model into memory; return milliseconds, or None if the provider cannot.

        Raises:
            ProviderError: If it cannot be loaded; see `complete`.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        policy = self._policy.for_loading()
        return self.repeat(lambda: self.provider.preload(control), control.cancelled, policy)

    def repeat(
        self,
        ask: Callable[[], Answer],
        cancelled: Callable[[], bool],
        policy: RetryPolicy | None = None,
        failed: ProviderError | None = None,
    ) -> Answer:
        """Do one call of the provider until it succeeds; raises as `complete`."""
        attempt = 0
        if failed is not None:
            attempt = 1
            self._wait_or_give_up(failed, attempt, cancelled, policy or self._policy)
        while True:
            attempt += 1
            try:
                with self.limiter.permit(cancelled):
                    answer = ask()
            except ProviderError as error:
                self._wait_or_give_up(error, attempt, cancelled, policy or self._policy)
            else:
                self.limiter.record_success(answer if isinstance(answer, Completion) else None)
                return answer

    def _wait_or_give_up(
        self,
        error: ProviderError,
        attempt: int,
        cancelled: Callable[[], bool],
        policy: RetryPolicy,
    ) -> None:
        if error is self.limiter.closed_by:
            raise error
        if error.kind is FailureKind.RATE_LIMITED:
            self.limiter.rate_limited(error.retry_after_s)
        wait_s = compute_next_wait(policy, error, attempt, self._rng.random())
        if wait_s is None:
            error.attempts = attempt
            if error.kind.scope is FailureScope.ENDPOINT:
                self.limiter.close(error)
            raise error
        with self._count_as_waiting():
            self._clock.wait(wait_s, lambda: cancelled() or self.limiter.closed_by is not None)
        if cancelled():
            raise RunCancelledError("the run was stopped")

    @contextmanager
    def _count_as_waiting(self) -> Iterator[None]:
        with self._lock:
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1


Hold = AbstractContextManager[Callable[[Completion], None]]
"""Holds the money of one request; gives what is called with its completion."""


class ChunkPermit:
    """Money, a place and starts for requests that are sent one after another, as by a worker."""

    def __init__(
        self, caller: Caller, holds: Sequence[Hold], cancelled: Callable[[], bool]
    ) -> None:
        """Hold the money, then wait for a place and for the first start.

        Args:
            caller: Of the LLM.
            holds: Of the requests; at least one.
            cancelled: Asked again and again; true ends the wait.

        Raises:
            CostLimitError: If the first request would cost too much.
            ProviderError: If the endpoint is dead.
            RunCancelledError: If `cancelled()` turned true.
        """
        self._limiter = caller.limiter
        self._money: list[tuple[ExitStack, Callable[[Completion], None]]] = []
        self.place = ExitStack()
        """Left as soon as nothing more is asked; places elsewhere may be added."""
        try:
            self._hold_money(holds)
            self.place.enter_context(self._limiter.permit(cancelled))
        except BaseException:
            self.close()
            raise
        others = self._limiter.take_starts(len(self._money) - 1)
        self.starts_s = (0.0, *others)
        """When each request may be sent, in seconds from now; further requests may not be sent."""

    def _hold_money(self, holds: Sequence[Hold]) -> None:
        for hold in holds:
            stack = ExitStack()
            try:
                self._money.append((stack, stack.enter_context(hold)))
            except CostLimitError:
                if not self._money:
                    raise
                return

    def settle(self, number: int, completion: Completion | None) -> None:
        """Pay for a request that was answered; give its money back where it was not."""
        stack, pay = self._money[number]
        if completion is not None:
            pay(completion)
            self._limiter.record_success(completion)
        stack.close()

    def leave(self) -> None:
        """Give the place back: nothing more is asked."""
        self.place.close()

    def close(self) -> None:
        """Give everything back."""
        self.place.close()
        for stack, _ in self._money:
            stack.close()
