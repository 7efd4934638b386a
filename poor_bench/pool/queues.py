"""Jobs in their order: which model of an endpoint is asked, how many jobs at once, and until when.

Turns and queues belong to the scheduler of `pool/pool.py`; only its one thread calls them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from poor_bench.errors import PoorBenchError, ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureKind, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.pool.events import LLMFinished, LLMUnavailable, ModelEvent

MOST_LOST_IN_A_ROW = 5
"""Jobs lost, retries and all, during which nothing was answered, before a model is given up."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[Item]):
    """Jobs for one model."""

    items: Iterable[Item]
    """One for each job, made when a slot is free for it."""
    n_items: int
    llm: LLM | None = None
    """Loaded before the first job; None where the jobs are not for one model."""
    concurrency: int | None = None
    """Jobs at once; by default the concurrency of the model's endpoint and some spare ones."""


class _ForModel(Protocol):
    @property
    def llm(self) -> LLM | None: ...


_AnyWork = TypeVar("_AnyWork", bound=_ForModel)


def group_by_endpoint(works: Sequence[_AnyWork], manager: LLMManager) -> list[list[_AnyWork]]:
    """Group work: groups run side by side, the models of a group after each other.

    Models of one local endpoint share a group, so that one of them is in memory at a time. Entries
    that differ only in their parameters follow each other, and their model is loaded once.
    """
    groups: dict[str, list[_AnyWork]] = {}
    for number, work in enumerate(works):
        groups.setdefault(_group_name(work.llm, number, manager), []).append(work)
    for group in groups.values():
        names = [work.llm.name if work.llm else "" for work in group]
        group.sort(key=lambda work: names.index(work.llm.name if work.llm else ""))
    return list(groups.values())


def _group_name(llm: LLM | None, number: int, manager: LLMManager) -> str:
    if llm is None:
        return f"work {number}"
    return manager.endpoint_key(llm) if manager.is_local(llm) else f"hosted {llm.id}"


class WorkerSlot(NamedTuple, Generic[Item]):
    """A place of the present model that a job holds while it runs."""

    turn: ModelTurn[Item]
    n_answered_before: int
    """Answers of the model when the job began: an answer since then proves that it is alive."""


class ModelTurn(Generic[Item]):
    """The jobs of one model while it is its turn: counts them, and decides when it is hopeless."""

    def __init__(self, work: Work[Item], *, gives_up: bool) -> None:
        self.work = work
        self.is_loading = False
        self.is_ready = work.llm is None
        self.n_under_way = 0
        self.told_limits: tuple[int, float] | None = None
        """Requests at once and a second, as they were told last."""
        self.unavailable: PoorBenchError | None = None
        self._gives_up = gives_up
        self._items = iter(work.items)
        self._is_exhausted = False
        self._n_closed_slots = 0
        self._n_ended = 0
        self._n_answered = 0
        self._n_lost_in_a_row = 0
        self._last_lost: ProviderError | None = None

    @property
    def is_over(self) -> bool:
        """True if no job is left to be started or waited for."""
        is_at_end = self._is_exhausted or self.unavailable is not None
        return is_at_end and not self.n_under_way and not self.is_loading

    @property
    def n_skipped(self) -> int:
        """Jobs that stay pending."""
        return self.work.n_items - self._n_ended

    def take(self, n_slots: int) -> tuple[WorkerSlot[Item], Item] | None:
        """Take the next job, and one of `n_slots` for it; None if no job or no slot is left."""
        if self._n_closed_slots >= n_slots:
            self._is_exhausted = True
        if self.n_under_way >= n_slots - self._n_closed_slots:
            return None
        if self._is_exhausted or self.unavailable is not None:
            return None
        for item in self._items:
            self.n_under_way += 1
            return WorkerSlot(self, self._n_answered), item
        self._is_exhausted = True
        return None

    def note_load_failure(self, error: PoorBenchError) -> None:
        """Skip all jobs of a model that cannot be loaded."""
        if self._gives_up:
            self.unavailable = error

    def close_slot(self) -> None:
        """Use one slot less, since the budget was too small for a job.

        Not none at once: jobs under way may cost less than was held for them, and the next jobs may
        be cheaper.
        """
        self._n_closed_slots += 1

    def note_outcome(self, lost: ProviderError | None, n_answered_before: int) -> bool:
        """Count what a job came to; return True if it counts.

        Of the failures for which a model is given up, the first counts: the others say the same.
        """
        counts = self._is_of_use(lost, n_answered_before)
        self._n_ended += counts
        return counts

    def _is_of_use(self, lost: ProviderError | None, n_answered_before: int) -> bool:
        if lost is None or not self._gives_up:
            self._n_answered += 1
            self._n_lost_in_a_row = 0
            return True
        if self._may_be_hopeless(lost) and self._n_answered == n_answered_before:
            self._n_lost_in_a_row += 1
        self._last_lost = lost
        is_one_of_many = self._n_lost_in_a_row >= MOST_LOST_IN_A_ROW
        if not is_one_of_many and lost.kind.scope is FailureScope.REQUEST:
            return True
        is_first = self.unavailable is None
        self.unavailable = self.unavailable or lost
        return is_first

    def tell_end(self, llm: LLM) -> Iterator[ModelEvent]:
        """Yield the events that end the turn of a model."""
        error = self.unavailable
        if error is not None:
            failure, hint = describe_error(error), error.hint
            yield LLMUnavailable(
                llm_id=llm.id, failure=failure, hint=hint, n_skipped=self.n_skipped
            )
        yield LLMFinished(llm_id=llm.id)

    def _may_be_hopeless(self, lost: ProviderError) -> bool:
        """True if it may say more of the model than of this job: a repeated refusal does, too."""
        is_repeated = str(lost) == str(self._last_lost)
        return lost.kind.is_retryable or (lost.kind is FailureKind.BAD_REQUEST and is_repeated)


def describe_error(error: PoorBenchError) -> Failure:
    """Make the failure that an error is told as."""
    return Failure(
        kind=getattr(error, "kind", FailureKind.SETTINGS),
        message=str(error),
        attempts=getattr(error, "attempts", 1),
    )


class EndpointQueue(Generic[Item]):
    """Work of one endpoint, one model after the other."""

    def __init__(self, works: Iterable[Work[Item]], *, gives_up: bool) -> None:
        self._turns = deque(ModelTurn(work, gives_up=gives_up) for work in works)

    @property
    def turn(self) -> ModelTurn[Item] | None:
        """The present model; None once the work of all is done."""
        return self._turns[0] if self._turns else None

    def end_turn(self) -> None:
        """Go on to the next model."""
        self._turns.popleft()
