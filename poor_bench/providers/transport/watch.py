"""Ends calls that take too long or are no longer wanted, wherever they are stuck.

A thread blocked in a read notices neither a deadline nor a cancelled run, and a server that
sends a byte now and then outlives every socket timeout. So one thread looks at the calls in
flight a few times a second and shuts down the socket of each one that has to end; the read
returns at once, and the call says why it ended.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.ports import CallControl, Clock

_ROUND_S = 0.05
_IDLE_ROUNDS = 100


class Line(Protocol):
    """A connection that serves one call at a time."""

    watch: CallWatch | None
    n_requests: int
    """How many requests were sent since it was opened."""

    def hang_up(self) -> None:
        """Make reads and writes on the connection return at once."""


class CallWatch:
    """Times one call and knows when it has to end."""

    def __init__(self, control: CallControl, clock: Clock) -> None:
        self._control = control
        self._clock = clock
        self._line: Line | None = None
        self._end: PoorBenchError | None = None
        self.started = clock.monotonic()
        self._first_text_at: float | None = None
        self._ended_at: float | None = None

    def note_first_text(self) -> None:
        """Remember when the LLM began to talk; later calls change nothing."""
        if self._first_text_at is None:
            self._first_text_at = self._clock.monotonic()

    def note_end(self) -> None:
        """Remember when the reply was complete, whenever its caller gets to hear of it."""
        self._ended_at = self._clock.monotonic()

    @property
    def first_text_ms(self) -> float | None:
        """From the start to the first piece of text; None if there was none."""
        if self._first_text_at is None:
            return None
        return (self._first_text_at - self.started) * 1000

    def measure_ms(self) -> float:
        """Return the time from the start to the end of the reply, or until now."""
        ended_at = self._clock.monotonic() if self._ended_at is None else self._ended_at
        return (ended_at - self.started) * 1000

    def use(self, line: Line) -> None:
        """Remember which connection serves the call from now on."""
        line.watch = self
        self._line = line

    @property
    def line_is_used(self) -> bool:
        """True if the connection has served another call before."""
        return self._line is not None and self._line.n_requests > 1

    def raise_if_over(self) -> None:
        """Raise if the call has to end.

        Raises:
            RunCancelledError: If the run was cancelled.
            ProviderError: If a deadline has passed.
        """
        self._judge()
        if self._end is not None:
            raise self._end

    def hang_up_if_over(self) -> None:
        """Shut the connection down if the call has to end and still uses it."""
        self._judge()
        line = self._line
        if self._end is not None and line is not None and line.watch is self:
            line.hang_up()

    def _judge(self) -> None:
        if self._end is None:
            self._end = self._reason_to_end()

    def _reason_to_end(self) -> PoorBenchError | None:
        if self._control.cancelled():
            return RunCancelledError("the run was stopped")
        timeouts = self._control.timeouts
        elapsed_s = self._clock.monotonic() - self.started
        if elapsed_s >= timeouts.total_s:
            return _timeout("no complete reply", timeouts.total_s)
        if self._first_text_at is None and elapsed_s >= timeouts.first_token_s:
            return _timeout("no first token", timeouts.first_token_s)
        return None


class Watchdog:
    """Looks after the calls in flight from a thread that lives only while there are some."""

    def __init__(self) -> None:
        self._watches: set[CallWatch] = set()
        self._lock = threading.Lock()
        self._idle_rounds_left = _IDLE_ROUNDS
        self._thread: threading.Thread | None = None

    @contextmanager
    def guarding(self, watch: CallWatch) -> Iterator[None]:
        """Look after one call for as long as the context lasts."""
        with self._lock:
            self._watches.add(watch)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._patrol, name="poor-bench-watchdog", daemon=True
                )
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._watches.discard(watch)

    def close(self) -> None:
        """Let the thread end as soon as no call is in flight."""
        self._idle_rounds_left = 0

    def _patrol(self) -> None:
        idle_rounds = 0
        while True:
            time.sleep(_ROUND_S)
            with self._lock:
                watches = tuple(self._watches)
                idle_rounds = 0 if watches else idle_rounds + 1
                if idle_rounds > self._idle_rounds_left:
                    self._thread = None
                    return
            for watch in watches:
                watch.hang_up_if_over()


def shut_down(sock: socket.socket) -> None:
    """Make everything that waits for a socket return, also beneath TLS."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _timeout(what: str, seconds: float) -> ProviderError:
    return ProviderError(f"{what} within {seconds:g} s", kind=FailureKind.TIMEOUT)
