"""Trials of a run in chunks: a worker asks and scores those of a chunk one after another.

A chunk lasts about a second, so that cancel, limits and budget take hold soon, and a worker that
dies costs little; a tenth of it while the limits of the endpoint are searched. What goes wrong in a
chunk is repeated singly, with the retries of a local run.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any, NamedTuple

from poor_bench.calls.caller import ChunkPermit
from poor_bench.cluster.members import ClusterMember, NoMemberError
from poor_bench.cluster.remote import MOST_IN_CHUNK, RemoteScorer
from poor_bench.cluster.session import ClusterSession
from poor_bench.cluster.work import ANSWER, SCORE, ChunkPart, ChunkTrial, Outcome, WorkDone
from poor_bench.config.load import Workspace
from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.result import Result
from poor_bench.runner.jobs import Recorded, TrialJobs
from poor_bench.runner.plan import LLMWork, WorkItem

_CHECK_S = 0.25


class ChunkSizes:
    """Chooses how many trials of an LLM make a chunk, by how long its trials took so far."""

    def __init__(self) -> None:
        self._trial_s: dict[str, float] = {}

    def choose(self, llm_id: str, n_left: int, n_at_once: int, chunk_s: float) -> int:
        """Choose a size: small at first, and towards the end, so that no worker is left alone."""
        trial_s = self._trial_s.get(llm_id, chunk_s)
        fits = min(MOST_IN_CHUNK, int(chunk_s / max(trial_s, 1e-6)))
        return max(1, min(fits, n_left // (2 * n_at_once)))

    def note(self, llm_id: str, n_trials: int, seconds: float) -> None:
        """Take note of how long a chunk took."""
        before, now = self._trial_s.get(llm_id), seconds / n_trials
        self._trial_s[llm_id] = now if before is None else (before + now) / 2


class SentChunk:
    """A chunk on its way: what came of its trials so far."""

    def __init__(self, member: ClusterMember | None, permit: ChunkPermit, n_trials: int) -> None:
        self.member = member
        self.n_trials = n_trials
        self.is_broken = False
        """True once a trial failed: those after it were not asked."""
        self._permit = permit
        self._heard: dict[tuple[str, int], Outcome[Any] | None] = {}
        self._is_over = False
        self._changed = threading.Condition()

    def hear(self, parts: Sequence[ChunkPart]) -> None:
        """Take what a worker tells; called in a thread of dask."""
        for part, number, outcome in parts:
            if part == ANSWER:
                self._settle(number, outcome)
        with self._changed:
            self._heard |= {(part, number): outcome for part, number, outcome in parts}
            self._changed.notify_all()

    def _settle(self, number: int, outcome: Outcome[Completion] | None) -> None:
        """Pay for an answer; behind the last one, the place of the chunk is free."""
        if not isinstance(outcome, WorkDone):
            self._permit.close()
            return
        self._permit.settle(number, outcome.value)
        if number == self.n_trials - 1:
            self._permit.leave()

    def end(self) -> None:
        """Expect nothing more."""
        self._permit.close()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def wait(self, part: str, number: int, cancelled: Callable[[], bool]) -> Outcome[Any] | None:
        """Wait for a part; None if it never comes.

        Raises:
            RunCancelledError: If `cancelled()` turned true.
        """
        with self._changed:
            while (part, number) not in self._heard and not self._is_over:
                if cancelled():
                    raise RunCancelledError("the run was stopped")
                if self.member is not None and self.member.lost.is_set():
                    break
                self._changed.wait(_CHECK_S)
            found = self._heard.pop((part, number), None)
        if part == ANSWER and not isinstance(found, WorkDone):
            self.is_broken = True
            self._permit.close()
        return found


class SentTrial(NamedTuple):
    """A trial of a chunk."""

    chunk: SentChunk
    number: int
    request: ChatRequest
    is_scored: bool
    """True if the worker scores it, too."""


class RemoteTrials(TrialJobs):
    """Has trials asked and scored by workers, in chunks."""

    def __init__(
        self,
        session: ClusterSession,
        workspace: Workspace,
        manager: LLMManager,
        scorer: RemoteScorer,
        *,
        judge_later: bool = False,
    ) -> None:
        super().__init__(
            workspace,
            manager,
            scorer,
            judge_later=judge_later,
            build=self._take_request,
            answer=self._take_answer,
        )
        self._session = session
        self._remote_scorer = scorer
        self._sent: dict[tuple[str, str, int], SentTrial] = {}
        """By key of their results: trials that were sent in a chunk."""
        scorer.wait_for_chunk = self._wait_for_score
        self._sizes = ChunkSizes()

    def cut(self, work: LLMWork) -> Iterator[Sequence[WorkItem]]:
        """Divide the trials of an LLM into chunks."""
        items, n_left, llm = work.items(), len(work), work.llm
        while n_left:
            n_at_once, chunk_s = self._manager.concurrency(llm), self._manager.chunk_s(llm)
            size = self._sizes.choose(llm.id, n_left, n_at_once, chunk_s)
            chunk = list(islice(items, size))
            n_left -= len(chunk)
            yield chunk

    def run_each(
        self, items: Sequence[WorkItem], run_id: str, cancelled: Callable[[], bool]
    ) -> Generator[Recorded, None, None]:
        """Ask and score trials; those behind a failed one are sent again, in another chunk."""
        rest = deque(items)
        while rest:
            with self._open_chunk(rest, cancelled) as chunk:
                for _ in range(chunk.n_trials if chunk else 1):
                    yield self.run(rest.popleft(), run_id, cancelled)
                    if chunk and chunk.is_broken:
                        break

    @contextmanager
    def _open_chunk(
        self, items: Iterable[WorkItem], cancelled: Callable[[], bool]
    ) -> Iterator[SentChunk | None]:
        """Send the first of some trials; None if the very first one has to be run singly.

        Raises:
            CostLimitError: If the first trial would cost too much.
            RunCancelledError: If `cancelled()` turned true.
        """
        built = list(self._build_requests(items))
        try:
            permit = built and self._open_permit(built, cancelled)
        except RunCancelledError:
            raise
        except PoorBenchError:
            permit = None  # run singly, it fails likewise, and that is recorded
        if not permit:
            yield None
            return
        started = time.monotonic()
        with ExitStack() as stack:
            stack.callback(permit.close)
            chunk = self._send(built[: len(permit.starts_s)], permit, stack, cancelled)
            yield chunk
            if not chunk.is_broken:
                llm_id, seconds = built[0][0].llm.id, time.monotonic() - started
                self._sizes.note(llm_id, chunk.n_trials, seconds)

    def _build_requests(self, items: Iterable[WorkItem]) -> Iterator[tuple[WorkItem, ChatRequest]]:
        """Build requests up to the first that cannot be built."""
        with suppress(PoorBenchError):
            for item in items:
                yield item, self._build_request(item)

    def _open_permit(
        self, built: Sequence[tuple[WorkItem, ChatRequest]], cancelled: Callable[[], bool]
    ) -> ChunkPermit:
        requests = [request for _, request in built]
        return self._manager.open_chunk(built[0][0].llm, requests, cancelled)

    def _send(
        self,
        built: Sequence[tuple[WorkItem, ChatRequest]],
        permit: ChunkPermit,
        stack: ExitStack,
        cancelled: Callable[[], bool],
    ) -> SentChunk:
        llm = built[0][0].llm
        places = self._session.table.place(self._session.make_need(llm), cancelled)
        try:
            member = permit.place.enter_context(places)
        except NoMemberError as error:
            chunk = SentChunk(None, permit, 1)
            # the wait for a worker is over: asking again would only repeat it
            chunk.hear([(ANSWER, 0, ProviderError(str(error), kind=error.kind, retry_after_s=inf))])
            self._note_sent(built[:1], [""], chunk, stack)
            return chunk
        chunk = SentChunk(member, permit, len(built))
        test_ids = [self._choose_test(item, member) for item, _ in built]
        trials = [
            ChunkTrial(request, start_s, test_id)
            for (_, request), start_s, test_id in zip(built, permit.starts_s, test_ids, strict=True)
        ]
        self._note_sent(built, test_ids, chunk, stack)
        stack.callback(self._session.send_chunk(member, llm, trials, chunk.hear, chunk.end))
        return chunk

    def _choose_test(self, item: WorkItem, member: ClusterMember) -> str:
        """Name the test of a trial if the worker that asks may score the answer, too."""
        level, ready = self._remote_scorer.find_need([item.test]).level, member.readiness
        is_scored = not self._scorer.is_judged(item.test) and ready and ready.sandbox >= level
        return item.test.test_id if is_scored else ""

    def _note_sent(
        self,
        built: Sequence[tuple[WorkItem, ChatRequest]],
        test_ids: Sequence[str],
        chunk: SentChunk,
        stack: ExitStack,
    ) -> None:
        for number, ((item, request), test_id) in enumerate(zip(built, test_ids, strict=True)):
            key = _find_key(item)
            self._sent[key] = SentTrial(chunk, number, request, bool(test_id))
            stack.callback(self._sent.pop, key, None)

    def _take_request(self, item: WorkItem) -> ChatRequest:
        sent = self._sent.get(_find_key(item))
        return self._build_request(item) if sent is None else sent.request

    def _take_answer(
        self, item: WorkItem, request: ChatRequest, cancelled: Callable[[], bool]
    ) -> Completion:
        """Wait for the answer of a trial; one that failed in its chunk is repeated singly."""
        key = _find_key(item)
        sent = self._sent.get(key)
        if sent is None:
            return self._call(item, request, cancelled)
        member = sent.chunk.member
        outcome = sent.chunk.wait(ANSWER, sent.number, cancelled)
        if isinstance(outcome, WorkDone) and member is not None:
            answer: Completion = outcome.value
            return replace(answer, machine=member.host)
        del self._sent[key]
        failed = outcome if isinstance(outcome, ProviderError) else None
        if failed is not None and member and self._session.exclude(member, item.llm, failed):
            failed = None
        if isinstance(outcome, PoorBenchError) and not isinstance(outcome, ProviderError):
            raise outcome
        return self._manager.complete(
            item.llm, request.messages, cancelled, request.parameters, failed
        )

    def _wait_for_score(self, result: Result, cancelled: Callable[[], bool]) -> Outcome[Any] | None:
        sent = self._sent.get(result.key)
        if sent is None or not sent.is_scored:
            return None
        return sent.chunk.wait(SCORE, sent.number, cancelled)


def _find_key(item: WorkItem) -> tuple[str, str, int]:
    """Name a trial as `Result.key` does."""
    return item.llm.id, item.test.test_id, item.trial
