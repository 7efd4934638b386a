"""The executor of this machine: threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

_Value = TypeVar("_Value")


class ThreadExecutor:
    """Runs each job in a thread; see `poor_bench.ports.Executor`.

    `submit` is the only place of a run that starts threads. It does so when all are busy; the pool
    limits how many jobs are submitted at once, and so the number of threads.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._n_threads = 0
        self._n_unfinished = 0
        self._lock = threading.Lock()

    def submit(self, job: Callable[[], _Value], done: Callable[[_Value], None]) -> None:
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
