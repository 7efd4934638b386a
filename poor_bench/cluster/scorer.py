"""Scoring on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

from poor_bench.cluster import work
from poor_bench.cluster.members import Need, NoMemberError
from poor_bench.cluster.session import ClusterSession, WorkerLostError
from poor_bench.config.load import Workspace
from poor_bench.errors import SandboxError
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.plugins import EvaluatorRegistry
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.runner.jobs import JudgeItem
from poor_bench.runner.rescore import Rescored
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.trial_states import Fingerprints
from poor_bench.sandbox import Level

CHUNK = 64
"""Responses that one task scores again."""
_MOST_CHUNKS_PER_THREAD = 4
"""Chunks under way, or waiting for a place: two for each thread, and two for later workers."""


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

    def score(
        self, result: Result, test: Test, cancelled: Callable[[], bool] = lambda: False
    ) -> Result:
        """Score the response of a result; raises as `Scorer.score`."""
        if self.is_judged(test):
            return super().score(result, test, cancelled)
        try:
            scored, _ = self._session.call(
                work.score, result, need=self._find_need([test]), cancelled=cancelled
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

        n_threads = sum(m.n_threads for m in self._session.table.members if m.readiness)
        most = _MOST_CHUNKS_PER_THREAD * max(1, n_threads)
        chunks = Work(items=_cut(items), n_items=1, concurrency=most)
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
                need=self._find_need([item.test for item in chunk]),
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

    def _find_need(self, tests: Iterable[Test]) -> Need:
        needs = [self._needs.get(test.test_id) or self._note_need(test) for test in tests]
        return max(needs, key=lambda need: need.level, default=Need())

    def _note_need(self, test: Test) -> Need:
        level = self._session.lowest if self.runs_code([test]) else Level.NONE
        need = self._needs[test.test_id] = Need(level=level)
        return need


def _cut(items: Iterable[JudgeItem]) -> Iterator[list[JudgeItem]]:
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _fail(item: JudgeItem, error: Exception) -> Rescored:
    message = f"the response could not be scored: {error}"
    return Rescored(item.result, None, Failure(kind=FailureKind.SANDBOX, message=message))
