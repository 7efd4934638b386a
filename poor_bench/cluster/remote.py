"""Asks and scores on the workers of a cluster, as if here; limits and retries stay here."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any, TypeVar

from poor_bench.cluster import work
from poor_bench.cluster.members import ClusterMember, Need, NoMemberError
from poor_bench.cluster.session import ClusterSession, WorkerLostError
from poor_bench.config.load import Workspace
from poor_bench.errors import PoorBenchError, ProviderError, SandboxError
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.endpoint import is_worker_local
from poor_bench.runner.jobs import JudgeItem
from poor_bench.runner.rescore import Rescored
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.trial_states import Fingerprints
from poor_bench.sandbox import Level

MOST_IN_CHUNK = 64
"""Trials, or stored answers, of one chunk."""
_FEWEST_IN_CHUNK = 8
_MOST_CHUNKS_PER_THREAD = 4
"""Chunks under way, or waiting for a place: two for each thread, and two for later workers."""
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
        self._need = session.make_need(llm)

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
        if all(value is None for _, value in loaded):
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
        """Name the servers, with their machines where workers have servers of other versions."""
        if not self._is_spread:
            return ""
        hosts: dict[str, set[str]] = {}
        for member, text in self._call_all(work.describe_server, lambda: False):
            if text:
                hosts.setdefault(text, set()).add(member.host)
        if len(hosts) < 2:
            return "".join(hosts)
        return ", ".join(f"{text} ({', '.join(sorted(hosts[text]))})" for text in sorted(hosts))

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
                if not self._session.exclude(error.__dict__.pop("member"), self._llm, error):
                    raise

    def _call_all(
        self, do: Callable[..., work.Outcome[Value]], cancelled: Callable[[], bool]
    ) -> list[tuple[ClusterMember, Value]]:
        """Do the same for the own server of each worker, side by side; return who did it, too.

        Raises:
            PoorBenchError: If none of them could do it.
        """
        members = self._session.table.one_per_server(self._llm)

        def call(member: ClusterMember) -> work.Outcome[Value] | None:
            return self._session.call_member(member, do, self._llm, cancelled=cancelled)

        with ThreadPoolExecutor(max(1, len(members))) as threads:
            outcomes = list(threads.map(call, members))
        told = list(zip(members, outcomes, strict=True))
        done = [(member, each.value) for member, each in told if isinstance(each, work.WorkDone)]
        errors = [
            outcome
            for member, outcome in told
            if isinstance(outcome, PoorBenchError)
            and not self._session.exclude(member, self._llm, outcome)
        ]
        if errors and not done:
            raise errors[0]
        return done


class RemoteScorer(Scorer):
    """Scores responses on workers, but for those that an LLM judges: their judge is remote."""

    def __init__(
        self,
        workspace: Workspace,
        evaluators: EvaluatorRegistry,
        fingerprints: Fingerprints,
        judging: ResponseJudging,
        session: ClusterSession,
    ) -> None:
        super().__init__(workspace, evaluators, fingerprints, judging)
        self._session = session
        self._needs: dict[str, Need] = {}
        """By test id."""
        self.wait_for_chunk: Callable[[Result, Callable[[], bool]], work.Outcome[Any] | None]
        self.wait_for_chunk = lambda _result, _cancelled: None
        """Waits for the fields of a score that a chunk brings; None if none does."""

    def score(
        self, result: Result, test: Test, cancelled: Callable[[], bool] = lambda: False
    ) -> Result:
        """Score the response of a result; raises as `Scorer.score`."""
        if self.is_judged(test):
            return super().score(result, test, cancelled)
        outcome = self.wait_for_chunk(result, cancelled)
        if isinstance(outcome, work.WorkDone):
            return replace(result, **outcome.value)
        if outcome is not None:
            raise outcome
        try:
            scored, _ = self._session.call(
                work.score, result, need=self.find_need([test]), cancelled=cancelled
            )
        except (NoMemberError, WorkerLostError) as error:
            raise SandboxError(f"the response could not be scored: {error}") from error
        return scored

    def rescore(
        self, items: Iterable[JudgeItem], manager: LLMManager
    ) -> Generator[Rescored, None, None]:
        """Score stored responses again, in chunks; yield them as chunks end."""
        control = RunControl()
        pool = Pool(manager, control, gives_up=False)

        def do(chunk: Sequence[JudgeItem]) -> JobResult[list[Rescored]]:
            return JobResult(self._rescore_chunk(chunk, control.cancelled))

        n_threads = max(1, sum(m.n_threads for m in self._session.table.members if m.readiness))
        most = _MOST_CHUNKS_PER_THREAD * n_threads
        chunks = Work(items=cut(items, n_threads), n_items=1, concurrency=most)
        with closing(pool.run([chunks], do)) as events:
            for event in events:
                if isinstance(event, JobDone):
                    yield from event.value

    def _rescore_chunk(
        self, chunk: Sequence[JudgeItem], cancelled: Callable[[], bool]
    ) -> list[Rescored]:
        """Score a chunk on one worker; a response that workers die of is found by halving."""
        judged = [item for item in chunk if self.is_judged(item.test)]
        if judged:  # answers without text, which need no judge
            chunk = [item for item in chunk if not self.is_judged(item.test)]
        try:
            results, _ = self._session.call(
                work.rescore,
                [item.result for item in chunk],
                need=self.find_need([item.test for item in chunk]),
                cancelled=cancelled,
                most_attempts=2 if len(chunk) > 1 else 1,
            )
        except WorkerLostError as error:
            if len(chunk) > 1:
                middle = len(chunk) // 2
                halves = chunk[:middle], chunk[middle:]
                return [done for half in halves for done in self._rescore_chunk(half, cancelled)]
            return [_fail(item, error) for item in chunk]
        except NoMemberError as error:
            return [_fail(item, error) for item in chunk]
        return [Rescored.of(item.result, new) for item, new in zip(chunk, results, strict=True)]

    def find_need(self, tests: Iterable[Test]) -> Need:
        """Say what a worker needs to score answers to some tests."""
        needs = [self._needs.get(test.test_id) or self._note_need(test) for test in tests]
        return max(needs, key=lambda need: need.level, default=Need())

    def _note_need(self, test: Test) -> Need:
        level = self._session.lowest if self.runs_code([test]) else Level.NONE
        need = self._needs[test.test_id] = Need(level=level)
        return need


def cut(items: Iterable[JudgeItem], n_threads: int) -> Iterator[list[JudgeItem]]:
    """Cut items into chunks, smaller ones towards the end, so that no worker is left alone."""
    rest, ahead = iter(items), deque[JudgeItem]()
    while True:
        ahead.extend(islice(rest, 2 * n_threads * MOST_IN_CHUNK - len(ahead)))
        if not ahead:
            return
        size = max(_FEWEST_IN_CHUNK, len(ahead) // (2 * n_threads))
        yield [ahead.popleft() for _ in range(min(size, len(ahead)))]


def _fail(item: JudgeItem, error: Exception) -> Rescored:
    message = f"the response could not be scored: {error}"
    return Rescored(item.result, None, Failure(kind=FailureKind.SANDBOX, message=message))
