"""Pure work on all processors: processes of our own, fed and read by threads of this one.

They are started apart from the module that runs here, unlike those of `multiprocessing`: a script
that uses the library is not run again by each of them.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import subprocess

    import numpy as np
    from numpy.typing import NDArray

    T = TypeVar("T")
    R = TypeVar("R")

_SERVE = "import sys; sys.path[:] = {path!r}; from poor_bench.processes import serve; serve()"
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Threads of numpy that wait for each other would take the processors from other processes."""
_WAITING = 1
"""Tasks that are ready for each process: it seldom waits, and few are in memory."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of `mallopt` in malloc.h of glibc."""
_LARGE_BYTES = 4 << 20


def keep_little_memory() -> None:
    """Let this process keep little of what it frees, as far as its C library can.

    Each arena of glibc keeps most of what is freed in it: all threads share two. Arrays of some
    megabytes go back to the system at once, also after larger ones were freed.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # other C libraries have no arenas
            choose = ctypes.CDLL(None).mallopt
            choose(_M_ARENA_MAX, 2)
            choose(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def return_memory() -> None:
    """Give back what lies free between what is in use to the system; takes some milliseconds."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


_CHANGED: WeakKeyDictionary[mmap.mmap, set[int]] = WeakKeyDictionary()
"""Pages of mapped files that were written to; of others that can be, nothing is known."""


def note_changes(column: NDArray[Any], entries: NDArray[np.int64]) -> None:
    """Note which entries of a column were written: what is mapped of a file there is no more in it.

    All of a mapped file that are ever written to have to be noted, before it is released.
    """
    import numpy as np

    mapped = _find_mapped(column)
    if mapped is not None:
        places = _find_address(column) - _find_address(np.frombuffer(mapped, np.uint8, 1))
        pages = (places + entries * column.itemsize) // mmap.PAGESIZE
        _CHANGED.setdefault(mapped, set()).update(np.unique(pages).tolist())


def release_pages(columns: Iterable[NDArray[Any]]) -> None:
    """Give pages of mapped files that were read back to the system, which keeps them in its cache.

    Pages that were written to stay.
    """
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    for mapped in {id(found): found for each in columns if (found := _find_mapped(each))}.values():
        changed = _CHANGED.get(mapped, set() if memoryview(mapped).readonly else None)
        if changed is not None and len(changed) <= _MOST_CHANGED:
            n_pages = -(-len(mapped) // mmap.PAGESIZE)
            for before, after in pairwise((-1, *sorted(changed), n_pages)):
                if after - before > 1:
                    start, end = (before + 1) * mmap.PAGESIZE, after * mmap.PAGESIZE
                    mapped.madvise(mmap.MADV_DONTNEED, start, min(end, len(mapped)) - start)


_MOST_CHANGED = 20_000
"""Between more changed pages, little is left to release."""


def _find_mapped(column: NDArray[Any]) -> mmap.mmap | None:
    found: Any = column
    while found is not None and not isinstance(found, memoryview):
        found = getattr(found, "base", None)
    return found.obj if found is not None and isinstance(found.obj, mmap.mmap) else None


def _find_address(column: NDArray[Any]) -> int:
    address: int = column.__array_interface__["data"][0]
    return address


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
    import subprocess

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
