"""The last part of a run: responses that wait for a judge, one judge's model after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from poor_bench.errors import ProviderError, RecordedError
from poor_bench.judge.judgement import JudgeError
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.events import JudgeUnavailable, LLMUnavailable, RunEvent
from poor_bench.runner.progress import Progress
from poor_bench.runner.recording import recorded
from poor_bench.runner.scorer import Scorer


class JudgeItem(NamedTuple):
    """A response that waits for a judge."""

    result: Result
    test: Test


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """All responses that wait for one judge; see `poor_bench.runner.work.Work`."""

    llm: LLM
    waiting: Sequence[JudgeItem]

    def __len__(self) -> int:
        return len(self.waiting)

    def items(self) -> Iterator[JudgeItem]:
        """Yield the responses in the order in which they were answered."""
        return iter(self.waiting)


def judge_works(
    waiting: Sequence[Result], test_of: Callable[[Result], Test], scorer: Scorer
) -> list[JudgeWork]:
    """Return the responses that wait, by the LLM that judges them first.

    Raises:
        ConfigError: If a judge cannot be used.
    """
    by_judge: dict[str, tuple[LLM, list[JudgeItem]]] = {}
    for result in waiting:
        item = JudgeItem(result, test_of(result))
        llm = scorer.judge_of(item.test)
        by_judge.setdefault(llm.id, (llm, []))[1].append(item)
    return [JudgeWork(llm, items) for llm, items in by_judge.values()]


class JudgeExecutor:
    """Has responses judged; see `poor_bench.runner.work.Execute`."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def execute(
        self, item: JudgeItem, run_id: str, cancelled: Callable[[], bool]
    ) -> tuple[Result, RecordedError | None]:
        """Return the judged result, or a failure that keeps the response for another try."""
        answered = replace(item.result, failure=None)

        def failed(kind: FailureKind, message: str, attempts: int) -> Result:
            failure = Failure(kind=kind, message=message, attempts=attempts)
            return replace(item.result, score=None, failure=failure)

        result, error = recorded(
            lambda: self._scorer.scored(answered, item.test, cancelled), failed
        )
        if isinstance(error, JudgeError):
            result = replace(result, judgement=_record_of(error))
        cause = error.__cause__ if error is not None else None
        return result, cause if isinstance(cause, ProviderError) else None


class JudgeProgress:
    """Tells of judges what a run tells of its LLMs; see `poor_bench.runner.work.Sink`."""

    def __init__(self, progress: Progress) -> None:
        self.run_id = progress.run_id
        self.store = progress.store
        self.abort = progress.abort
        self._progress = progress

    def tell(self, event: RunEvent) -> None:
        """Tell of a judge that cannot be asked; the rest is of no interest."""
        if isinstance(event, LLMUnavailable):
            self._progress.tell(
                JudgeUnavailable(
                    judge_id=event.llm_id,
                    failure=event.failure,
                    hint=event.hint,
                    n_skipped=event.n_skipped,
                )
            )


def _record_of(error: JudgeError) -> dict[str, Any]:
    fallback = error.fallback
    return {
        "judge": fallback.judge,
        "cost_usd": fallback.cost_usd,
        "samples": [fallback.as_dict()],
    }
