"""Works off jobs of any kind: trials, judgements, conversations, agents, attempts of tuning.

```
works -> one EndpointQueue per local endpoint and per hosted model
      -> worker slots of its present model -> threads -> inbox -> events
```

The thread that iterates over `Pool.run` is the scheduler. It alone takes jobs, counts, decides and
starts threads, so nothing here needs a lock. Jobs only run elsewhere and report to its inbox.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from poor_bench.errors import CostLimitError, PoorBenchError, ProviderError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import (
    JobDone,
    LimitChanged,
    ModelEvent,
    ModelFetching,
    ModelLoaded,
    ModelLoading,
    ModelNotPreloaded,
)
from poor_bench.pool.queues import (
    EndpointQueue,
    Item,
    ModelTurn,
    Work,
    WorkerSlot,
    describe_error,
    group_by_endpoint,
)
from poor_bench.ports import Reachability

SPARE_SLOTS = 2
"""Worker slots beyond an endpoint's concurrency: their jobs score while the others ask."""

MOST_WAITING_PER_SLOT = 4
"""Jobs that may wait to ask again without holding a slot, for each request at once."""

_CHECKS_AT_ONCE = 8
_AWAKE_S = 0.1
"""The scheduler looks this often for signals, for the end of a pause, and for jobs that wait."""

Value = TypeVar("Value")


class JobResult(NamedTuple, Generic[Value]):
    """What a job came to."""

    value: Value
    lost: ProviderError | None = None
    """Why the model gave no answer; several in a row are why it is given up."""


Do = Callable[[Item], JobResult[Value] | Generator[JobResult[Value], None, None]]
"""Does a job: gives what it came to, or yields that piece by piece."""


class ThreadExecutor:
    """Runs each job in a thread; its methods are called from one thread.

    `submit` is the only place of a run that starts threads. It does so when all are busy; the pool
    limits how many jobs are submitted at once, and so the number of threads.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._n_threads = 0
        self._n_unfinished = 0
        self._lock = threading.Lock()

    def submit(self, job: Callable[[], Value], done: Callable[[Value], None]) -> None:
        """Run `job` in a thread, then call `done` there with what it returned."""

        def task() -> None:
            value = job()
            # Counted before `done`: whoever submits on hearing of it finds this thread free.
            with self._lock:
                self._n_unfinished -= 1
            done(value)

        with self._lock:
            self._n_unfinished += 1
            all_are_busy = self._n_unfinished > self._n_threads
            self._n_threads += all_are_busy
        if all_are_busy:
            # Daemons, so that a second Ctrl-C need not wait for a server that hangs.
            name = f"worker {self._n_threads}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        self._tasks.put(task)

    def close(self) -> None:
        """Let the threads end; those that still work end afterwards."""
        for _ in range(self._n_threads):
            self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()


class Pool:
    """Works off jobs, with as many at once as their endpoints take.

    A job that waits to ask again holds no slot: another one starts in its place. A model that
    cannot be asked is given up, and the rest of its jobs is skipped.
    """

    def __init__(
        self,
        manager: LLMManager,
        control: RunControl,
        *,
        gives_up: bool = True,
        n_spare_slots: int = SPARE_SLOTS,
    ) -> None:
        """Prepare a pool; it may run work several times, one after the other.

        Args:
            manager: Loads models and knows their endpoints.
            control: Pauses and cancels; cancelled by the pool when a job raises.
            gives_up: False if every job is to be tried, also with a model that cannot be asked.
            n_spare_slots: Worker slots beyond an endpoint's concurrency, for jobs that score.
        """
        self._manager = manager
        self._control = control
        self._gives_up = gives_up
        self._n_spare_slots = n_spare_slots
        self._loaded: dict[str, LLM] = {}
        """By endpoint: the local model that was loaded there last."""

    def run(
        self, works: Sequence[Work[Item]], do: Do[Item, Value]
    ) -> Generator[JobDone[Value] | ModelEvent, None, None]:
        """Yield what happens, job by job; ends when all jobs ended, were skipped or cancelled.

        Close the generator (`contextlib.closing`) if you leave it early: jobs under way are then
        cancelled and waited for.

        Args:
            works: Jobs of each model.
            do: Does one of them, in any thread; raises RunCancelledError to leave it pending.

        Raises:
            Exception: Whatever else `do` raised first, once all jobs under way have ended.
        """
        works = [work for work in works if work.n_items]  # none is loaded for nothing
        self._make_room_for(works)
        run = _PoolRun(
            self._manager, self._control, ThreadExecutor(), self._loaded, do, self._n_spare_slots
        )
        yield from run.work_off(
            [
                EndpointQueue(group, gives_up=self._gives_up)
                for group in group_by_endpoint(works, self._manager)
            ]
        )

    def _make_room_for(self, works: Sequence[Work[Item]]) -> None:
        """Free local models of earlier work if another local model takes their place in memory."""
        coming = [work.llm for work in works if work.llm and self._manager.is_local(work.llm)]
        if not coming:
            return
        wanted = {(self._manager.endpoint_key(llm), llm.name) for llm in coming}
        for key, llm in list(self._loaded.items()):
            if (key, llm.name) not in wanted:
                self._manager.unload(self._loaded.pop(key))


def check_llms(manager: LLMManager, llms: Sequence[LLM]) -> dict[str, Reachability]:
    """Find out which LLMs can be asked, several at once; by their ids."""
    pool = Pool(manager, RunControl())
    work = Work(items=llms, n_items=len(llms), concurrency=_CHECKS_AT_ONCE)
    with closing(pool.run([work], lambda llm: JobResult((llm.id, manager.check(llm))))) as events:
        found = dict(event.value for event in events if isinstance(event, JobDone))
    return {llm.id: found[llm.id] for llm in llms}


class _Report(NamedTuple, Generic[Item, Value]):
    """What the scheduler hears when a job, or the loading of a model, has ended."""

    slot: WorkerSlot[Item]
    result: JobResult[Value] | None = None
    """None for a loading, for a job that was cancelled, and at the end of one that yields."""
    error: Exception | None = None
    is_last: bool = True


@dataclass
class _PoolRun(Generic[Item, Value]):
    """One call of `Pool.run`: all of it in the thread of its caller, but for `_do` and `_load`."""

    manager: LLMManager
    control: RunControl
    executor: ThreadExecutor
    loaded: dict[str, LLM]
    do: Do[Item, Value]
    n_spare_slots: int
    _inbox: SimpleQueue[_Report[Item, Value] | ModelEvent] = field(default_factory=SimpleQueue)
    _n_expected: int = 0
    """Reports that are still to come."""
    _error: Exception | None = None

    def work_off(
        self, queues: Sequence[EndpointQueue[Item]]
    ) -> Generator[JobDone[Value] | ModelEvent, None, None]:
        try:
            while True:
                for queue in queues:
                    yield from self._advance(queue)
                if not self._n_expected and not any(queue.turn for queue in queues):
                    break
                yield from self._hear()
        except BaseException as error:
            self.control.cancel()
            if isinstance(error, KeyboardInterrupt):
                self._n_expected = 0  # it may have come between counting a job and starting it
            raise
        finally:
            self._wait_for_all()
            self.executor.close()
        if self._error is not None:
            raise self._error

    def _advance(self, queue: EndpointQueue[Item]) -> Iterator[ModelEvent]:
        """Start what the present model may do now; go on to the next one when it is done."""
        while (turn := queue.turn) is not None:
            if not self.control.cancelled() and not self.control.is_paused():
                self._fill_slots(turn)
            is_cancelled = self.control.cancelled() and not turn.n_under_way
            if turn.is_loading or not (turn.is_over or is_cancelled):
                return
            queue.end_turn()
            if turn.is_ready and turn.work.llm is not None:
                yield from turn.tell_end(turn.work.llm)

    def _fill_slots(self, turn: ModelTurn[Item]) -> None:
        if turn.is_loading or turn.unavailable is not None:
            return
        if not turn.is_ready:
            turn.is_loading = True
            self._submit(partial(self._load, WorkerSlot(turn, 0)))
            return
        self._tell_limits(turn)
        n_slots = self._count_slots(turn.work)
        while (taken := turn.take(n_slots)) is not None:
            self.control.begin_job()
            self._submit(partial(self._do, *taken))

    def _tell_limits(self, turn: ModelTurn[Item]) -> None:
        llm = turn.work.llm
        found = self.manager.list_found_limits(llm) if llm is not None else None
        if llm is not None and found is not None and found != turn.told_limits:
            turn.told_limits = found
            at_once, per_second = found
            self._inbox.put(LimitChanged(llm_id=llm.id, at_once=at_once, per_second=per_second))

    def _count_slots(self, work: Work[Item]) -> int:
        """Count the jobs that may be under way, those included that wait to ask again."""
        if work.llm is None:
            return work.concurrency or 1
        concurrency = self.manager.concurrency(work.llm)
        n_waiting = min(self.manager.n_waiting(work.llm), concurrency * MOST_WAITING_PER_SLOT)
        return (work.concurrency or concurrency + self.n_spare_slots) + n_waiting

    def _submit(self, job: Callable[[], _Report[Item, Value]]) -> None:
        self._n_expected += 1
        self.executor.submit(job, self._inbox.put)

    def _hear(self) -> Iterator[JobDone[Value] | ModelEvent]:
        """Take the next report; returns without one now and then.

        The main thread handles signals only when it is awake, and a signal does not always wake it.
        """
        try:
            message = self._inbox.get(timeout=_AWAKE_S)
        except Empty:
            return
        if not isinstance(message, _Report):
            yield message
            return
        self._n_expected -= message.is_last
        if message.slot.turn.is_loading:
            self._note_loaded(message)
            return
        try:
            yield from self._note_done(message)
        finally:
            if message.is_last:
                self.control.end_job()  # only now: whoever took the event has stored the result

    def _note_loaded(self, report: _Report[Item, Value]) -> None:
        turn = report.slot.turn
        turn.is_loading = False
        turn.is_ready = True
        if isinstance(report.error, PoorBenchError):
            turn.note_load_failure(report.error)
        elif report.error is not None:
            self._abort(report.error)

    def _note_done(self, report: _Report[Item, Value]) -> Iterator[JobDone[Value]]:
        turn = report.slot.turn
        turn.n_under_way -= report.is_last
        if isinstance(report.error, CostLimitError):
            turn.close_slot()
        elif report.error is not None:
            self._abort(report.error)
        elif report.result is not None:
            value, lost = report.result
            if turn.note_outcome(lost, report.slot.n_answered_before):
                yield JobDone(value)

    def _abort(self, error: Exception) -> None:
        self._error = self._error or error
        self.control.cancel()

    def _wait_for_all(self) -> None:
        """Wait for what is under way when the run ends early; its values are lost."""
        while self._n_expected:
            try:
                message = self._inbox.get(timeout=_AWAKE_S)
            except Empty:
                continue
            if isinstance(message, _Report) and message.is_last:
                self._n_expected -= 1
                if not message.slot.turn.is_loading:
                    self.control.end_job()

    def _do(self, slot: WorkerSlot[Item], item: Item) -> _Report[Item, Value]:
        """Do one job; called by the executor."""
        try:
            found = self.do(item)
            if isinstance(found, JobResult):
                return _Report(slot, found)
            with closing(found):
                for result in found:
                    self._inbox.put(_Report(slot, result, is_last=False))
                    if slot.turn.unavailable is not None:
                        break
            return _Report(slot)
        except CostLimitError as error:
            return _Report(slot, error=error)
        except RunCancelledError:
            return _Report(slot)
        except Exception as error:  # noqa: BLE001 - raised again by `work_off`
            return _Report(slot, error=error)

    def _load(self, slot: WorkerSlot[Item]) -> _Report[Item, Value]:
        """Bring the model of a turn into memory in place of the one before; called likewise."""
        try:
            llm = slot.turn.work.llm
            if llm is not None:
                self._bring_into_memory(llm)
            return _Report(slot)
        except RunCancelledError:
            return _Report(slot)
        except Exception as error:  # noqa: BLE001 - told, or raised again, by the scheduler
            return _Report(slot, error=error)

    def _bring_into_memory(self, llm: LLM) -> None:
        tell = self._inbox.put
        if self.manager.is_local(llm):
            self._replace_loaded(llm)
        dead = self.manager.endpoint_failure(llm)
        if dead is not None:
            raise dead
        load_ms = self.manager.preload(
            llm,
            self.control.cancelled,
            lambda n, of: tell(ModelFetching(llm_id=llm.id, n_bytes=n, of_bytes=of)),
            lambda: tell(ModelLoading(llm_id=llm.id)),
            lambda error: tell(ModelNotPreloaded(llm_id=llm.id, failure=describe_error(error))),
        )
        if load_ms is not None:
            tell(ModelLoaded(llm_id=llm.id, load_ms=load_ms))

    def _replace_loaded(self, llm: LLM) -> None:
        key = self.manager.endpoint_key(llm)
        previous = self.loaded.get(key)
        if previous is not None and previous.name != llm.name:
            self.manager.unload(previous)
        self.loaded[key] = llm
