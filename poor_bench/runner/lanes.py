"""Who runs when: LLMs of one local endpoint after each other, everything else side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from poor_bench.errors import ProviderError, RunCancelledError, StoreError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureScope
from poor_bench.runner.control import RunControl
from poor_bench.runner.events import (
    LLMFinished,
    LLMUnavailable,
    ModelFetching,
    ModelLoaded,
    ModelLoading,
)
from poor_bench.runner.execute import Executor
from poor_bench.runner.plan import LLMWork, WorkItem
from poor_bench.runner.progress import Progress

SCORING_THREADS = 2
"""Threads beyond an endpoint's limit: they score while the others ask."""


def lanes_of(works: Sequence[LLMWork], manager: LLMManager) -> list[list[LLMWork]]:
    """Return the work in lanes: lanes run side by side, the LLMs of a lane after each other.

    LLMs of one local endpoint share a lane, so that one model is in memory at a time; models that
    stand several times with other parameters follow each other and are loaded once.
    """
    lanes: dict[str, list[LLMWork]] = {}
    for work in works:
        local = manager.is_local(work.llm)
        key = manager.endpoint_key(work.llm) if local else f"hosted {work.llm.id}"
        lanes.setdefault(key, []).append(work)
    for lane in lanes.values():
        first = {work.llm.name: position for position, work in reversed(list(enumerate(lane)))}
        lane.sort(key=lambda work: first[work.llm.name])
    return list(lanes.values())


class LaneRunner:
    """Runs one lane."""

    def __init__(
        self,
        manager: LLMManager,
        executor: Executor,
        progress: Progress,
        control: RunControl,
    ) -> None:
        self._manager = manager
        self._executor = executor
        self._progress = progress
        self._control = control

    def run(self, lane: Sequence[LLMWork]) -> None:
        """Run all LLMs of a lane; returns when all ended, were skipped or the run was stopped."""
        for position, work in enumerate(lane):
            if self._control.cancelled():
                return
            _LLMRun(self._manager, self._executor, self._progress, self._control, work).run()
            following = lane[position + 1].llm if position + 1 < len(lane) else None
            if following is not None and following.name != work.llm.name:
                self._manager.unload(work.llm)
            self._progress.tell(LLMFinished(llm_id=work.llm.id))


class _LLMRun:
    """Runs the trials of one LLM with as many threads as its endpoint takes requests."""

    def __init__(
        self,
        manager: LLMManager,
        executor: Executor,
        progress: Progress,
        control: RunControl,
        work: LLMWork,
    ) -> None:
        self._manager = manager
        self._executor = executor
        self._progress = progress
        self._control = control
        self._work = work
        self._items: Iterator[WorkItem] = work.items()
        self._lock = threading.Lock()
        self._n_taken = 0
        self._given_up: ProviderError | None = None

    def run(self) -> None:
        if not self._is_loaded():
            return
        n_threads = min(
            self._manager.concurrency(self._work.llm) + SCORING_THREADS, len(self._work)
        )
        threads = [_thread(self._work_off, f"{self._work.llm.id} {i}") for i in range(n_threads)]
        for thread in threads:
            thread.join()
        if self._given_up is not None:
            self._tell_unavailable(self._given_up)

    def _is_loaded(self) -> bool:
        llm = self._work.llm
        try:
            dead = self._manager.endpoint_failure(llm)
            if dead is not None:
                raise dead
            if self._manager.is_local(llm):
                self._progress.tell(ModelLoading(llm_id=llm.id))
            load_ms = self._manager.preload(llm, self._control.cancelled, self._tell_fetched)
        except ProviderError as error:
            self._tell_unavailable(error)
            return False
        except RunCancelledError:
            return False
        if load_ms is not None:
            self._progress.tell(ModelLoaded(llm_id=llm.id, load_ms=load_ms))
        return True

    def _tell_fetched(self, n_bytes: int, of_bytes: int) -> None:
        llm_id = self._work.llm.id
        self._progress.tell(ModelFetching(llm_id=llm_id, n_bytes=n_bytes, of_bytes=of_bytes))

    def _work_off(self) -> None:
        try:
            while (item := self._next_item()) is not None:
                self._run_one(item)
        except RunCancelledError:
            return
        except StoreError as error:
            self._progress.abort(error)
            self._control.cancel()

    def _run_one(self, item: WorkItem) -> None:
        result, error = self._executor.execute(item, self._progress.run_id, self._is_stopped)
        if isinstance(error, ProviderError) and error.kind.scope is not FailureScope.REQUEST:
            if self._give_up(error):
                self._progress.store(result)
            return
        self._progress.store(result)

    def _give_up(self, error: ProviderError) -> bool:
        """Stop asking this LLM; return whether this is the first call."""
        with self._lock:
            is_first = self._given_up is None
            self._given_up = self._given_up or error
            if not is_first:
                self._n_taken -= 1
            return is_first

    def _next_item(self) -> WorkItem | None:
        self._control.wait_while_paused()
        with self._lock:
            if self._given_up is not None or self._control.cancelled():
                return None
            item = next(self._items, None)
            self._n_taken += item is not None
            return item

    def _is_stopped(self) -> bool:
        return self._control.cancelled()

    def _tell_unavailable(self, error: ProviderError) -> None:
        failure = Failure(kind=error.kind, message=str(error), attempts=error.attempts)
        self._progress.tell(
            LLMUnavailable(
                llm_id=self._work.llm.id,
                failure=failure,
                hint=error.hint,
                n_skipped=len(self._work) - self._n_taken,
            )
        )


def _thread(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
