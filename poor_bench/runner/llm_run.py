"""The trials of one LLM: load its model, ask, give up what is hopeless."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Generic

from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureKind, FailureScope
from poor_bench.runner.control import RunControl
from poor_bench.runner.events import (
    LLMUnavailable,
    ModelFetching,
    ModelLoaded,
    ModelLoading,
    ModelNotPreloaded,
)
from poor_bench.runner.threads import start_thread
from poor_bench.runner.work import Execute, Item, Sink, Work

SCORING_THREADS = 2
"""Threads beyond an endpoint's limit: they score while the others ask."""

MOST_WAITING_PER_PLACE = 4
"""Threads that may stand in for waiting ones, for each request that an endpoint gets at once."""

MOST_LOST_IN_A_ROW = 5
"""Trials lost, retries and all, during which nothing was answered, before an LLM is given up."""


class LLMRun(Generic[Item]):
    """Runs the trials of one LLM with as many threads as its endpoint takes requests.

    Threads that wait to ask again do not count: others stand in for them.
    """

    def __init__(
        self,
        manager: LLMManager,
        executor: Execute[Item],
        progress: Sink,
        control: RunControl,
        work: Work[Item],
    ) -> None:
        self._manager = manager
        self._executor = executor
        self._progress = progress
        self._control = control
        self._work = work
        self._items: Iterator[Item] = work.items()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._n_taken = 0
        self._n_answered = 0
        self._n_lost_in_a_row = 0
        self._last_lost: ProviderError | None = None
        self._given_up: ProviderError | None = None

    def run(self) -> None:
        """Return when all trials ended, were skipped or the run was stopped."""
        if not self._is_loaded():
            return
        self._start_threads()
        for thread in self._threads:
            thread.join()
        if self._given_up is not None:
            self._tell_unavailable(self._given_up)

    def _start_threads(self) -> None:
        """Start the threads that are missing; each one that is started may call this again."""
        n_places = self._manager.concurrency(self._work.llm)
        n_waiting = min(self._manager.n_waiting(self._work.llm), n_places * MOST_WAITING_PER_PLACE)
        with self._lock:
            n_left = len(self._work) - self._n_taken
            n_missing = n_places + SCORING_THREADS + n_waiting - len(self._threads)
            for _ in range(min(n_missing, n_left)):
                name = f"{self._work.llm.id} {len(self._threads)}"
                thread = start_thread(self._work_off, name, self._progress, self._control)
                self._threads.append(thread)

    def _is_loaded(self) -> bool:
        llm = self._work.llm
        try:
            dead = self._manager.endpoint_failure(llm)
            if dead is not None:
                raise dead
            load_ms = self._manager.preload(
                llm,
                self._control.cancelled,
                self._tell_fetched,
                self._tell_loading,
                self._tell_not_preloaded,
            )
        except RunCancelledError:
            return False
        except PoorBenchError as error:
            self._tell_unavailable(error)
            return False
        if load_ms is not None:
            self._progress.tell(ModelLoaded(llm_id=llm.id, load_ms=load_ms))
        return True

    def _tell_loading(self) -> None:
        self._progress.tell(ModelLoading(llm_id=self._work.llm.id))

    def _tell_fetched(self, n_bytes: int, of_bytes: int) -> None:
        llm_id = self._work.llm.id
        self._progress.tell(ModelFetching(llm_id=llm_id, n_bytes=n_bytes, of_bytes=of_bytes))

    def _tell_not_preloaded(self, error: ProviderError) -> None:
        failure = _failure_of(error)
        self._progress.tell(ModelNotPreloaded(llm_id=self._work.llm.id, failure=failure))

    def _work_off(self) -> None:
        while (item := self._next_item()) is not None:
            self._start_threads()
            self._run_one(item)

    def _run_one(self, item: Item) -> None:
        n_answered = self._n_answered
        with self._control.trial_under_way():
            result, error = self._executor.execute(item, self._progress.run_id, self._is_stopped)
            lost = error if isinstance(error, ProviderError) else None
            if self._is_kept(lost, n_answered):
                self._progress.store(result)

    def _is_kept(self, error: ProviderError | None, n_answered_before: int) -> bool:
        """Count a trial that ended; return whether its result is to be stored.

        Of the failures for which an LLM is given up, the first is stored: the others say the same.
        """
        with self._lock:
            if error is None:
                self._n_answered += 1
                self._n_lost_in_a_row = 0
                return True
            if self._may_be_hopeless(error) and self._n_answered == n_answered_before:
                self._n_lost_in_a_row += 1
            self._last_lost = error
            if not self._is_hopeless(error):
                return True
            is_first = self._given_up is None
            self._given_up = self._given_up or error
            self._n_taken -= not is_first
            return is_first

    def _may_be_hopeless(self, error: ProviderError) -> bool:
        """Whether it may say more of the LLM than of this trial: a repeated refusal does, too."""
        is_repeated = str(error) == str(self._last_lost)
        return error.kind.is_retryable or (error.kind is FailureKind.BAD_REQUEST and is_repeated)

    def _is_hopeless(self, error: ProviderError) -> bool:
        is_one_of_many = self._n_lost_in_a_row >= MOST_LOST_IN_A_ROW
        return is_one_of_many or error.kind.scope is not FailureScope.REQUEST

    def _next_item(self) -> Item | None:
        self._control.wait_while_paused()
        with self._lock:
            if self._given_up is not None or self._control.cancelled():
                return None
            item = next(self._items, None)
            self._n_taken += item is not None
            return item

    def _is_stopped(self) -> bool:
        return self._control.cancelled()

    def _tell_unavailable(self, error: PoorBenchError) -> None:
        failure = _failure_of(error)
        self._progress.tell(
            LLMUnavailable(
                llm_id=self._work.llm.id,
                failure=failure,
                hint=error.hint,
                n_skipped=len(self._work) - self._n_taken,
            )
        )


def _failure_of(error: PoorBenchError) -> Failure:
    return Failure(
        kind=getattr(error, "kind", FailureKind.SETTINGS),
        message=str(error),
        attempts=getattr(error, "attempts", 1),
    )
