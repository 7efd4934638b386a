"""What is computed once and kept: while a page waits, or in a thread where that takes too long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from cachetools import LRUCache

from poor_bench.errors import PoorBenchError
from poor_bench.processes import return_memory

V = TypeVar("V")


@dataclass(slots=True)
class _Value(Generic[V]):
    lock: threading.RLock = field(default_factory=threading.RLock)
    values: list[V] = field(default_factory=list)
    """Empty until the value is known."""


class Kept(Generic[V]):
    """Keeps values by key, those that were used last; threads that ask for one compute it once."""

    def __init__(self, n_kept: int = 16) -> None:
        self._lock = threading.Lock()
        self._known: LRUCache[Hashable, _Value[V]] = LRUCache(n_kept)

    def get(self, key: Hashable, compute: Callable[[], V]) -> V:
        """Look up the value of a key; compute it, in this thread, where it is not known.

        Args:
            key: Changes with everything that the value depends on.
            compute: Returns the value; what it raises is not kept.
        """
        with self._lock:
            known = self._known.setdefault(key, _Value())
        with known.lock:
            if not known.values:
                known.values.append(compute())
            return known.values[0]


class Requests:
    """Knows when a page waits for the server, so that what is computed in threads gives way.

    Args:
        longest_s: How long one call of `give_way` waits at most, so that work goes on.
    """

    def __init__(self, *, longest_s: float = 1.0) -> None:
        self._longest_s = longest_s
        self._changed = threading.Condition()
        self.n_open = 0
        """Requests that are being answered, and do not wait for what is computed."""
        self.turn = threading.Lock()
        """Held while something is computed that very many results make large: one at a time."""
        self._own = threading.local()

    def begin(self) -> None:
        """Note that this thread answers a request; requests within one another count each."""
        self._own.depth = self._depth() + 1
        self._add(1)

    def end(self) -> None:
        """Note that a request of this thread is answered, if one was noted."""
        if self._depth():
            self._own.depth -= 1
            self._add(-1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave out this thread while it waits for what is computed: else both would wait."""
        depth = self._depth()
        self._add(-depth)
        try:
            yield
        finally:
            self._add(depth)

    def give_way(self) -> None:
        """Wait until no request is being answered."""
        with self._changed:
            self._changed.wait_for(lambda: self.n_open == 0, self._longest_s)

    def _depth(self) -> int:
        return getattr(self._own, "depth", 0)

    def _add(self, number: int) -> None:
        if number:
            with self._changed:
                self.n_open += number
                self._changed.notify_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed(Generic[V]):
    """What is known by now."""

    value: V | None
    """None until the first computation ends; then the newest value that there is."""
    is_current: bool
    """True if the value belongs to the state that was asked for; else ask again soon."""


def wait_for_value(ask: Callable[[], Computed[V]]) -> V:
    """Wait for a value that is current, or new: while a run goes on, none stays current.

    Args:
        ask: Asks `Computations`, which wait longer here.
    """
    with waiting(_PATIENCE_S):
        answer = ask()
        known = answer.value
        while answer.value is None or (answer.value is known and not answer.is_current):
            answer = ask()
        return answer.value


@dataclass(slots=True)
class _Work(Generic[V]):
    value: V | None = None
    error: Exception | None = None
    thread: threading.Thread | None = None
    began: float = 0.0
    """When `thread` was started, by the monotonic clock."""
    n_told: int = 0
    """How often `tell` had been called by then."""
    done: Hashable = field(default_factory=object)
    """The version that `value` or `error` belongs to; at first none that anybody asks for."""


class _Wait(NamedTuple):
    seconds: float
    from_start: bool


_PATIENCE_S = 1.0
_WAIT: ContextVar[_Wait | None] = ContextVar("wait", default=None)
"""How long each `ask` waits; None for the patience of its `Computations`."""


@contextmanager
def waiting(seconds: float, *, from_start: bool = False) -> Iterator[None]:
    """Let whoever asks within this block wait so long; 0 answers with what is known.

    Args:
        seconds: Each time.
        from_start: True to count from the start of the computation.
    """
    before = _WAIT.set(_Wait(seconds, from_start))
    try:
        yield
    finally:
        _WAIT.reset(before)


class Computations(Generic[V]):
    """Computes one value for each topic and version; an older value stands in meanwhile.

    Args:
        patience_s: How long whoever asks waits from the start of a computation, so that small
            workspaces are answered at once. A page asks many times: while something takes longer,
            none of its parts waits again.
        n_kept: How many topics are kept.
        requests: What the computations give way to; None where they do not.
        monotonic: Tells the time in seconds.
    """

    def __init__(
        self,
        *,
        patience_s: float = 0.25,
        n_kept: int = 16,
        requests: Requests | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._requests = requests or Requests()
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._n_told = 0
        self._works: LRUCache[Hashable, _Work[V]] = LRUCache(n_kept)

    def ask(self, topic: Hashable, version: Hashable, compute: Callable[[], V]) -> Computed[V]:
        """Look up the value of a topic, and start to compute it where it is not known.

        Args:
            topic: What is asked.
            version: Changes with everything that the value depends on.
            compute: Returns the value; runs in another thread.

        Raises:
            Exception: What `compute` raised for this version.
        """
        wait = _WAIT.get() or _Wait(self._patience_s, from_start=True)
        with self._changed:
            work = self._works.setdefault(topic, _Work())
            if work.done != version and work.thread is None:
                self._start(work, version, compute, is_waited_for=wait.seconds > 0)
            thread, n_told = work.thread, work.n_told if wait.from_start else self._n_told
        spent_s = self._monotonic() - work.began if wait.from_start else 0.0
        if thread is not None and (wait_s := wait.seconds - spent_s) > 0:
            with self._requests.waiting(), self._changed:
                self._changed.wait_for(
                    lambda: work.thread is not thread or self._n_told > n_told, wait_s
                )
        with self._changed:
            is_current = work.done == version
            if is_current and work.error is not None:
                raise work.error
            return Computed(value=work.value, is_current=is_current)

    def tell(self) -> None:
        """Let nobody wait any longer who waits now, or from the start of a computation that runs.

        There is something to show meanwhile.
        """
        with self._changed:
            self._n_told += 1
            self._changed.notify_all()

    def _start(
        self, work: _Work[V], version: Hashable, compute: Callable[[], V], *, is_waited_for: bool
    ) -> None:
        def run() -> None:
            if not is_waited_for:  # whoever asks has other things to do, and shares the processor
                self._requests.give_way()
                work.began = self._monotonic()
            self._run(work, version, compute)

        work.thread = threading.Thread(target=run, daemon=True)
        work.began, work.n_told = self._monotonic(), self._n_told
        work.thread.start()

    def _run(self, work: _Work[V], version: Hashable, compute: Callable[[], V]) -> None:
        """Compute; whatever goes wrong is told to whoever asks."""
        value: V | None = None
        error: Exception | None = RuntimeError("stopped")
        try:
            value, error = compute(), None
        except PoorBenchError as problem:
            error = problem
        finally:
            with self._changed:
                work.done, work.error, work.thread = version, error, None
                work.value = value if error is None else work.value
                is_long = self._monotonic() - work.began > self._patience_s
                self._changed.notify_all()
            if is_long:
                return_memory()
