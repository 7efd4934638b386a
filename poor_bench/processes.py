"""Pure work on all processors: processes of our own, fed and read by threads of this one.

They are started apart from the module that runs here, unlike those of `multiprocessing`: a script
that uses the library is not run again by each of them.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    T = TypeVar("T")
    R = TypeVar("R")

_SERVE = "import sys; sys.path[:] = {path!r}; from poor_bench.processes import serve; serve()"
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Threads of numpy that wait for each other would take the processors from other processes."""
_WAITING = 2
"""Tasks that are ready for each process: it never waits, and few results are in memory."""


def count_processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(work: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
    """Do tasks on all processors; yield what comes of them, in their order.

    Args:
        work: Depends on nothing but its task. It and the tasks can be pickled.
        tasks: Each worth far more than sending it to another process. What a process fails at, or
            cannot be sent to one, is done here.
    """
    n_processes = count_processors()
    if n_processes < 2:
        yield from map(work, tasks)
        return
    processes: SimpleQueue[_Process | None] = SimpleQueue()
    started = [_start(work) for _ in range(n_processes)]
    for process in started:
        processes.put(process)

    def do(task: T) -> R:
        process = processes.get()
        try:
            return work(task) if process is None else process.do(work, task)
        finally:
            processes.put(process)

    try:
        with ThreadPoolExecutor(n_processes) as threads:
            yield from _in_order(threads, do, tasks, n_processes * _WAITING)
    finally:
        for process in started:
            if process is not None:
                process.end()


def _in_order(
    threads: ThreadPoolExecutor, do: Callable[[T], R], tasks: Iterable[T], n_ahead: int
) -> Iterator[R]:
    waiting: deque[Future[R]] = deque()
    try:
        for task in tasks:
            waiting.append(threads.submit(do, task))
            if len(waiting) > n_ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


class _Process:
    """A process that does tasks of one kind."""

    def __init__(self, process: subprocess.Popen[bytes], work: bytes) -> None:
        self._process = process
        self._is_usable = True
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        _send(self._to, work)

    def do(self, work: Callable[[T], R], task: T) -> R:
        """Do a task there; here if that fails, so that its error is told here."""
        if self._is_usable:
            with suppress(OSError, EOFError, pickle.PickleError, AttributeError, TypeError):
                _send(self._to, pickle.dumps(task))
                is_done, done = _read(_receive(self._from))
                if is_done:
                    result: R = done
                    return result
                return work(task)
            self._is_usable = False
        return work(task)

    def end(self) -> None:
        """End it; it may be in the middle of a task."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._to, self._from):
            with suppress(OSError):
                stream.close()


def _start(work: Callable[..., object]) -> _Process | None:
    """Start a process; None where the system refuses, or the work cannot be sent."""
    try:
        sent = pickle.dumps(work)
        command = [sys.executable, "-c", _SERVE.format(path=sys.path)]
        pipe = subprocess.PIPE
        started = subprocess.Popen(command, stdin=pipe, stdout=pipe, env={**os.environ, **_ALONE})
        return _Process(started, sent)
    except (OSError, pickle.PickleError, AttributeError, TypeError):
        return None


def _send(stream: IO[bytes], content: bytes) -> None:
    stream.write(len(content).to_bytes(8, "little"))
    stream.write(content)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    length = int.from_bytes(stream.read(8), "little")
    content = stream.read(length)
    if not length or len(content) < length:
        raise EOFError
    return content


def _read(content: bytes) -> Any:
    return pickle.loads(content)  # noqa: S301 - the bytes are our own


def serve() -> None:
    """Do tasks of the process that started this one, until it closes the pipe."""
    tasks, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what some library prints must not mix with results
    with suppress(EOFError, KeyboardInterrupt, OSError):
        work = _read(_receive(tasks))
        while True:
            _send(results, _try(work, _receive(tasks)))


def _try(work: Callable[[object], object], task: bytes) -> bytes:
    """Do a task; an error is told where the task comes from, which does it again."""
    try:
        return pickle.dumps((True, work(_read(task))))
    except Exception:  # noqa: BLE001 - any of them is told there
        return pickle.dumps((False, None))
