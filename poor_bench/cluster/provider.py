"""A provider whose requests the workers of a cluster send; limits and retries stay here."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from typing import TypeVar

from poor_bench.cluster import work
from poor_bench.cluster.members import ClusterMember, Need, NoMemberError
from poor_bench.cluster.session import ClusterSession, WorkerLostError
from poor_bench.errors import PoorBenchError, ProviderError
from poor_bench.llm_manager import LOCAL_CONCURRENCY
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.endpoint import is_loopback, is_worker_local

Value = TypeVar("Value")


class RemoteProvider:
    """Asks one LLM from the workers of a cluster; see `poor_bench.ports.Provider`.

    With the endpoint `worker-local`, each worker asks its own server. A worker whose server does
    not serve the model is told of and excluded, as long as another one can serve it.
    """

    def __init__(self, llm: LLM, session: ClusterSession) -> None:
        self._llm = llm
        self._session = session
        self._is_spread = is_worker_local(llm)
        self._need = Need(
            llm=llm,
            host="" if self._is_spread or not is_loopback(llm) else session.host,
            per_server=(llm.concurrency or LOCAL_CONCURRENCY) if self._is_spread else None,
        )

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM from the worker that is least busy."""
        completion, member = self._call(work.ask, request, cancelled=control.cancelled)
        return replace(completion, machine=member.host)

    def preload(self, control: CallControl) -> float | None:
        """Bring the model into memory, of each worker's server where each has its own.

        Returns:
            Milliseconds of the slowest; None where no such step exists.
        """
        if not self._is_spread:
            return self._call(work.preload, cancelled=control.cancelled)[0]
        started = time.monotonic()
        control.loading()
        loaded = self._call_all(work.preload, control.cancelled)
        if all(value is None for value in loaded):
            return None
        return (time.monotonic() - started) * 1000

    def unload(self) -> None:
        """Free the model's memory on all workers that have it."""
        if self._is_spread:
            self._call_all(work.unload, lambda: False)

    def check(self) -> Reachability:
        """Find out whether a worker can ask the LLM."""
        return self._call(work.check, cancelled=lambda: False)[0]

    def describe_server(self) -> str:
        """Name the servers; several where workers have servers of other versions."""
        if not self._is_spread:
            return ""
        found = self._call_all(work.describe_server, lambda: False)
        return ", ".join(sorted({text for text in found if text}))

    def close(self) -> None:
        """Nothing is open here; the workers keep their connections for the next run."""

    def _call(
        self,
        do: Callable[..., work.Outcome[Value]],
        *arguments: object,
        cancelled: Callable[[], bool],
    ) -> tuple[Value, ClusterMember]:
        while True:
            try:
                return self._session.call(
                    do, self._llm, *arguments, need=self._need, cancelled=cancelled
                )
            except NoMemberError as error:
                # the wait for a worker is over: asking again would only repeat it
                raise ProviderError(str(error), kind=error.kind, retry_after_s=inf) from error
            except WorkerLostError as error:
                message = f"{self._llm.id}: {error}"
                raise ProviderError(message, kind=FailureKind.SERVER_ERROR) from error
            except ProviderError as error:
                if not self._exclude(error.__dict__.pop("member"), error):
                    raise

    def _call_all(
        self, do: Callable[..., work.Outcome[Value]], cancelled: Callable[[], bool]
    ) -> list[Value]:
        """Do the same for the own server of each worker, side by side.

        Raises:
            PoorBenchError: If none of them could do it.
        """
        members = self._session.table.one_per_server(self._llm)

        def call(member: ClusterMember) -> work.Outcome[Value] | None:
            return self._session.call_member(member, do, self._llm, cancelled=cancelled)

        with ThreadPoolExecutor(max(1, len(members))) as threads:
            outcomes = list(threads.map(call, members))
        done = [outcome.value for outcome in outcomes if isinstance(outcome, work.WorkDone)]
        errors = [
            outcome
            for member, outcome in zip(members, outcomes, strict=True)
            if isinstance(outcome, PoorBenchError) and not self._exclude(member, outcome)
        ]
        if errors and not done:
            raise errors[0]
        return done

    def _exclude(self, member: ClusterMember, error: PoorBenchError) -> bool:
        """Exclude a worker whose own server cannot serve the LLM; False if it stays."""
        kind = getattr(error, "kind", None)
        if not self._is_spread or kind is None or kind.scope is FailureScope.REQUEST:
            return False
        if not self._session.table.exclude(member, self._llm, str(error)):
            return False
        self._session.tell(f"Worker {member} is not asked for {self._llm.id}: {error}")
        return True
