"""Ask one provider until it answers, within the limits of its endpoint."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from poor_bench.calls.endpoint_gate import EndpointGate
from poor_bench.calls.retry import RetryPolicy, next_wait
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Clock, Provider

Answer = TypeVar("Answer")


class Caller:
    """Sends requests to one LLM; retries what can succeed, gives up on what cannot."""

    def __init__(
        self,
        llm: LLM,
        provider: Provider,
        gate: EndpointGate,
        clock: Clock,
        policy: RetryPolicy,
        rng: random.Random,
    ) -> None:
        self.llm = llm
        self.provider = provider
        self.gate = gate
        self._clock = clock
        self._policy = policy
        self._rng = rng
        self._n_waiting = 0
        self._lock = threading.Lock()

    @property
    def n_waiting(self) -> int:
        """Requests that wait just now to be sent again."""
        return self._n_waiting

    def complete(self, request: ChatRequest, cancelled: Callable[[], bool]) -> Completion:
        """Return the LLM's completion.

        Raises:
            ProviderError: If it cannot be had; `attempts` says how often it was tried. An error
                that concerns the whole endpoint has closed its gate.
            RunCancelledError: If `cancelled()` turned true.
        """
        control = CallControl(timeouts=self.llm.timeouts, cancelled=cancelled)
        return self._repeated(lambda: self.provider.complete(request, control), cancelled)

    def preload(self, control: CallControl) -> float | None:
        """Bring the model into memory; return milliseconds, or None where there is no such step.

        Raises:
            ProviderError: If it cannot be loaded; see `complete`.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        policy = self._policy.for_loading()
        return self._repeated(lambda: self.provider.preload(control), control.cancelled, policy)

    def _repeated(
        self,
        ask: Callable[[], Answer],
        cancelled: Callable[[], bool],
        policy: RetryPolicy | None = None,
    ) -> Answer:
        attempt = 0
        while True:
            attempt += 1
            try:
                with self.gate.permit(cancelled):
                    answer = ask()
            except ProviderError as error:
                self._wait_or_give_up(error, attempt, cancelled, policy or self._policy)
            else:
                self.gate.succeeded()
                return answer

    def _wait_or_give_up(
        self,
        error: ProviderError,
        attempt: int,
        cancelled: Callable[[], bool],
        policy: RetryPolicy,
    ) -> None:
        if error is self.gate.closed_by:
            raise error
        if error.kind is FailureKind.RATE_LIMITED:
            self.gate.rate_limited()
        wait_s = next_wait(policy, error, attempt, self._rng.random())
        if wait_s is None:
            error.attempts = attempt
            if error.kind.scope is FailureScope.ENDPOINT:
                self.gate.close(error)
            raise error
        with self._counted_as_waiting():
            self._clock.wait(wait_s, lambda: cancelled() or self.gate.closed_by is not None)
        if cancelled():
            raise RunCancelledError("the run was stopped")

    @contextmanager
    def _counted_as_waiting(self) -> Iterator[None]:
        with self._lock:
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1
