"""What is computed once and kept: while a page waits, or in a thread where that takes too long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cachetools import LRUCache

from poor_bench.errors import PoorBenchError

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
    with _waiting(_PATIENCE_S):
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
    done: Hashable = field(default_factory=object)
    """The version that `value` or `error` belongs to; at first none that anybody asks for."""


_PATIENCE_S = 1.0
_WAIT_S: ContextVar[float | None] = ContextVar("wait_s", default=None)
"""How long each `ask` waits; None for what is left of the patience of its `Computations`."""


@contextmanager
def _waiting(seconds: float) -> Iterator[None]:
    before = _WAIT_S.set(seconds)
    try:
        yield
    finally:
        _WAIT_S.reset(before)


def without_waiting() -> AbstractContextManager[None]:
    """Answer whoever asks within this block at once; what is not known is computed meanwhile."""
    return _waiting(0)


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
        self._lock = threading.Lock()
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
        with self._lock:
            work = self._works.setdefault(topic, _Work())
            if work.done != version and work.thread is None:
                work.thread = threading.Thread(
                    target=self._run, args=(work, version, compute), daemon=True
                )
                work.began = self._monotonic()
                work.thread.start()
            thread = work.thread
        if thread is not None and (wait_s := self._choose_wait(work)) > 0:
            with self._requests.waiting():
                thread.join(wait_s)
        with self._lock:
            is_current = work.done == version
            if is_current and work.error is not None:
                raise work.error
            return Computed(value=work.value, is_current=is_current)

    def _choose_wait(self, work: _Work[V]) -> float:
        wait_s = _WAIT_S.get()
        left_s = work.began + self._patience_s - self._monotonic()
        return left_s if wait_s is None else wait_s

    def _run(self, work: _Work[V], version: Hashable, compute: Callable[[], V]) -> None:
        """Compute; whatever goes wrong is told to whoever asks."""
        value: V | None = None
        error: Exception | None = RuntimeError("stopped")
        try:
            value, error = compute(), None
        except PoorBenchError as problem:
            error = problem
        finally:
            with self._lock:
                work.done, work.error, work.thread = version, error, None
                work.value = value if error is None else work.value
