"""The one door to all LLMs: providers, retries and the limits of their endpoints."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from poor_bench.calls.budget import Budget
from poor_bench.calls.caller import Caller, ChunkPermit, Hold, RetryPolicy, SystemClock
from poor_bench.calls.rate_limiter import RateLimiter
from poor_bench.errors import ConfigError, PoorBenchError, ProviderError
from poor_bench.models.completion import ChatRequest, Completion, Message
from poor_bench.models.failure import FailureScope
from poor_bench.models.llm import LLM
from poor_bench.ports import (
    BatchApi,
    CallControl,
    Clock,
    OffersBatches,
    Provider,
    Reachability,
    TellsServer,
)
from poor_bench.providers.api_keys import KeyHiding, find_known_key, hide_key_in_answer
from poor_bench.providers.catalog import ProviderServices, find_entry
from poor_bench.providers.endpoint import (
    WORKER_LOCAL,
    build_endpoint_key,
    is_local,
    is_worker_local,
)
from poor_bench.providers.registry import create_provider

LOCAL_CONCURRENCY = 1
_BATCH_S = 1800.0
"""How long a file of up to 256 MB may take, up or down."""

Answer = TypeVar("Answer")


class LLMManager:
    """Asks LLMs; opens each provider once and keeps the limits of each endpoint."""

    def __init__(
        self,
        workspace: Path = Path(),
        *,
        clock: Clock | None = None,
        policy: RetryPolicy | None = None,
        environ: Mapping[str, str] = os.environ,
        create: Callable[[LLM, ProviderServices], Provider] = create_provider,
        budget: Budget | None = None,
        own_providers: Mapping[str, Callable[[LLM], Provider]] = MappingProxyType({}),
        count_servers: Callable[[LLM], int] | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            workspace: Folder that relative paths in an LLM's parameters start from.
            clock: Tells the time and waits; the machine's own by default.
            policy: When requests are repeated.
            environ: Where keys and proxies are looked up.
            create: Makes a provider from an LLM.
            budget: What may be spent; unlimited by default.
            own_providers: Makers of further providers, by the name that llms.json gives. They
                replace those of the catalog, count as local, and get one request at a time.
            count_servers: Counts the machines of a cluster that now serve an LLM whose endpoint is
                `worker-local`; None where this machine is the only one.
        """
        self.clock: Clock = clock or SystemClock()
        self._policy = policy or RetryPolicy()
        self._services = ProviderServices(clock=self.clock, workspace=workspace, environ=environ)
        self._create = create
        self._own_providers = own_providers
        self._count_servers = count_servers
        self.budget = budget
        self._callers: dict[str, list[Caller]] = {}
        """By LLM id; several where one is asked with different settings, as by a judge."""
        self._limiters: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()
        self._rng = random.Random()

    def complete(
        self,
        llm: LLM,
        messages: tuple[Message, ...],
        cancelled: Callable[[], bool] = lambda: False,
        parameters: Mapping[str, Any] | None = None,
        failed: ProviderError | None = None,
    ) -> Completion:
        """Ask `llm`, with retries where they can help.

        Args:
            llm: Whom to ask.
            messages: What to ask.
            cancelled: Asked again and again; true ends the call.
            parameters: In place of the LLM's own.
            failed: What the first attempt ended with, if it was made in a chunk.

        Raises:
            ConfigError: If the LLM's settings cannot be used.
            ProviderError: If it does not answer.
            RunCancelledError: If `cancelled()` turned true.
            CostLimitError: If the remaining budget is too small.
        """
        sent = llm.parameters if parameters is None else parameters
        request = ChatRequest(messages=messages, parameters=sent)
        with self._hold(llm, request) as pay:
            completion = self._find_caller(llm).complete(request, cancelled, failed)
            pay(completion)
        return completion

    def open_chunk(
        self, llm: LLM, requests: Sequence[ChatRequest], cancelled: Callable[[], bool]
    ) -> ChunkPermit:
        """Let several requests be sent one after another, as by a worker of a cluster.

        Raises:
            ConfigError: If the LLM's settings cannot be used.
            CostLimitError: If the remaining budget is too small for the first one.
            ProviderError: If its endpoint is dead.
            RunCancelledError: If `cancelled()` turned true while waiting for a place.
        """
        holds = [self._hold(llm, request) for request in requests]
        return ChunkPermit(self._find_caller(llm), holds, cancelled)

    def _hold(self, llm: LLM, request: ChatRequest) -> Hold:
        if self.budget is None:
            return nullcontext(lambda _completion: None)
        most_tokens = _read_limit(request.parameters)
        return self.budget.hold_request(llm, request.messages, most_tokens)

    def preload(
        self,
        llm: LLM,
        cancelled: Callable[[], bool] = lambda: False,
        fetched: Callable[[int, int], None] = lambda _n_bytes, _of_bytes: None,
        loading: Callable[[], None] = lambda: None,
        refused: Callable[[ProviderError], None] = lambda _error: None,
    ) -> float | None:
        """Bring the model into memory, where the provider has such a step and the server agrees.

        Servers that only resemble Ollama refuse to load a model without a message; the first
        request then loads it.

        Args:
            llm: Whose model.
            cancelled: Asked again and again; true ends the loading.
            fetched: Told how many bytes of the model's file are there, and of how many.
            loading: Called when a model on this machine or in its network begins to load.
            refused: Told why the server did not load it; requests may succeed all the same.

        Returns:
            Milliseconds that it took; None where nothing was loaded.

        Raises:
            ProviderError: If the LLM cannot be asked: no connection, key or model.
            RunCancelledError: If `cancelled()` turned true.
        """
        control = CallControl(timeouts=llm.timeouts, cancelled=cancelled, fetched=fetched)
        if self.is_local(llm):
            control = replace(control, loading=loading)
        try:
            return self._find_caller(llm).preload(control)
        except ProviderError as error:
            if error.kind.scope is not FailureScope.REQUEST:
                raise
            refused(error)
            return None

    def takes_batches(self, llm: LLM) -> bool:
        """True if the LLM's provider answers batches at a lower price."""
        is_own = llm.provider in self._own_providers
        return not is_own and find_entry(llm).takes_batches

    def open_batches(self, llm: LLM) -> BatchApi:
        """Open the batches of an LLM's account.

        Raises:
            ConfigError: If its provider has none.
        """
        provider = self._find_caller(llm).provider
        if not (self.takes_batches(llm) and isinstance(provider, OffersBatches)):
            raise ConfigError(f"{llm.id}: its provider takes no batches")
        return provider.open_batches()

    def call_batches(
        self,
        llm: LLM,
        call: Callable[[BatchApi, CallControl], Answer],
        cancelled: Callable[[], bool] = lambda: False,
        *,
        is_submission: bool = False,
    ) -> Answer:
        """Do one call of an LLM's batches, with retries where they can help and do no harm.

        Raises:
            ProviderError: If it does not succeed.
            RunCancelledError: If `cancelled()` turned true.
        """
        batches = self.open_batches(llm)
        timeouts = replace(llm.timeouts, first_token_s=_BATCH_S, total_s=_BATCH_S)
        control = CallControl(timeouts=timeouts, cancelled=cancelled)
        policy = self._policy.for_submitting() if is_submission else self._policy
        return self._find_caller(llm).repeat(lambda: call(batches, control), cancelled, policy)

    def without_key(self, llm: LLM, text: str) -> str:
        """Remove an LLM's key from text that is to be stored."""
        return hide_key_in_answer(text, find_known_key(llm, self._services.environ))

    def unload(self, llm: LLM) -> None:
        """Free the model's memory, where the provider has such a step."""
        self._find_caller(llm).provider.unload()

    def check(self, llm: LLM) -> Reachability:
        """Find out whether an LLM can be asked, without generating anything."""
        try:
            return self._find_caller(llm).provider.check()
        except PoorBenchError as error:
            return Reachability(reachable=False, message=str(error))

    def discover(self, endpoint: str = "") -> list[dict[str, Any]]:
        """Make an entry for llms.json for every model that an Ollama server can chat with.

        Args:
            endpoint: Base URL; the default server where empty.

        Raises:
            ConfigError: If the endpoint is not a URL.
            ProviderError: If the server cannot be asked.
        """
        from poor_bench.providers.ollama import discover

        return discover(endpoint, self._services)

    def endpoint_key(self, llm: LLM) -> str:
        """Name the server of an LLM: the same text for all LLMs that share it."""
        if llm.provider in self._own_providers:
            return llm.provider
        key = build_endpoint_key(llm, self._services.environ)
        return f"{WORKER_LOCAL} {key}" if self._is_spread(llm) else key

    def is_local(self, llm: LLM) -> bool:
        """True if an LLM runs on this machine or in its network."""
        return llm.provider in self._own_providers or is_local(llm, self._services.environ)

    def _is_spread(self, llm: LLM) -> bool:
        """True if several machines each ask a server of their own."""
        return self._count_servers is not None and is_worker_local(llm)

    def concurrency(self, llm: LLM) -> int:
        """Requests that the LLM's endpoint gets at once while it refuses none."""
        return self._find_caller(llm).limiter.full_concurrency

    def list_found_limits(self, llm: LLM) -> tuple[int, float] | None:
        """Requests at once and a second that a search lets through; None without a search."""
        return self._find_caller(llm).limiter.found_limits

    def chunk_s(self, llm: LLM) -> float:
        """Seconds within which the requests of a chunk start; see `open_chunk`."""
        return self._find_caller(llm).limiter.chunk_s

    def n_waiting(self, llm: LLM) -> int:
        """The LLM's requests that wait just now to be sent again."""
        return self._find_caller(llm).n_waiting

    def endpoint_failure(self, llm: LLM) -> ProviderError | None:
        """Why the LLM's endpoint was given up; None while it was not."""
        return self._find_caller(llm).limiter.closed_by

    def find_servers(self, llms: Iterable[LLM]) -> dict[str, str]:
        """Find name and version of what serves each LLM; each endpoint is asked once.

        Returns:
            LLM id to text such as `Ollama 0.12.3`; LLMs whose server does not tell are left out.
        """
        by_endpoint: dict[str, str] = {}
        found = {}
        for llm in llms:
            key = self.endpoint_key(llm)
            if key not in by_endpoint:
                by_endpoint[key] = self._find_server(llm)
            if by_endpoint[key]:
                found[llm.id] = by_endpoint[key]
        return found

    def _find_server(self, llm: LLM) -> str:
        try:
            provider = self._find_caller(llm).provider
            return provider.describe_server() if isinstance(provider, TellsServer) else ""
        except PoorBenchError:
            return ""  # a fact in passing: the run will tell what is wrong

    def close(self) -> None:
        """Close all providers; the manager opens them anew when it is asked again."""
        with self._lock:
            callers = [caller for same_id in self._callers.values() for caller in same_id]
            self._callers.clear()
            self._limiters.clear()
        for caller in callers:
            caller.provider.close()

    def _find_caller(self, llm: LLM) -> Caller:
        with self._lock:
            callers = self._callers.setdefault(llm.id, [])
            for caller in callers:
                if caller.llm is llm or caller.llm == llm:
                    return caller
            callers.append(self._open(llm))
            return callers[-1]

    def _open(self, llm: LLM) -> Caller:
        make_own = self._own_providers.get(llm.provider)
        provider: Provider
        if make_own:
            provider = KeyHiding(make_own(llm), llm, self._services.environ)
        else:
            provider = self._create(llm, self._services)
        limiter = self._limiter(llm)
        return Caller(llm, provider, limiter, self.clock, self._policy, self._rng)

    def _limiter(self, llm: LLM) -> RateLimiter:
        key = self.endpoint_key(llm)
        if key not in self._limiters:
            count = self._count_servers if self._is_spread(llm) else None
            self._limiters[key] = RateLimiter(
                LOCAL_CONCURRENCY, self.clock, partial(count, llm) if count else lambda: 1
            )
            if count is None and not self.is_local(llm):
                self._limiters[key].search()
        limiter = self._limiters[key]
        limiter.apply_limits(llm.concurrency, llm.requests_per_minute)
        return limiter


def _read_limit(parameters: Mapping[str, Any]) -> int | None:
    limit = parameters.get("max_tokens")
    return limit if isinstance(limit, int) else None
