"""Two threads for the calls in flight: one ends those that take too long, one reads all streams.

A thread blocked in a read notices neither a deadline nor a cancelled run, and a server that
sends a byte now and then outlives every socket timeout. So one thread looks at the calls in
flight a few times a second and shuts down the socket of each one that has to end; the read
returns at once, and the call says why it ended.

A thread per stream would wake up for each piece, and thousands of switches a second cost more than
the pieces. So each caller sleeps until its reply is complete, and one thread takes what arrives.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
        """Measure the time from the start to the end of the reply, or until now."""
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
            self._end = self._find_reason_to_end()

    def _find_reason_to_end(self) -> PoorBenchError | None:
        if self._control.cancelled():
            return RunCancelledError("the run was stopped")
        timeouts = self._control.timeouts
        elapsed_s = self._clock.monotonic() - self.started
        if elapsed_s >= timeouts.total_s:
            return _make_timeout("no complete reply", timeouts.total_s)
        if self._first_text_at is None and elapsed_s >= timeouts.first_token_s:
            return _make_timeout("no first token", timeouts.first_token_s)
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


def _make_timeout(what: str, seconds: float) -> ProviderError:
    return ProviderError(f"{what} within {seconds:g} s", kind=FailureKind.TIMEOUT)


_PIECE_BYTES = 64 * 1024
_IDLE_S = 5.0
_SIGNALS_S = 1.0
_MANY = 16
_NAP_S = 0.002
"""With many streams, the thread waits for several pieces before it wakes up for them."""
_NOTHING_YET = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

Take = Callable[[bytes], bool]
"""Takes what arrived, nothing at the end; true if it has enough; what it raises ends the stream."""


class _WatchedStream:
    """One socket and who takes what arrives there."""

    __slots__ = ("_is_tls", "_receive", "_take", "ended", "error", "is_taken_up", "sock")

    def __init__(self, sock: socket.socket, take: Take) -> None:
        self.sock = sock
        self._receive = sock.recv
        self._is_tls = isinstance(sock, ssl.SSLSocket)
        self._take = take
        self.is_taken_up = False
        """Whether the thread has seen it, and so will end it."""
        self.ended = threading.Event()
        self.error: BaseException | None = None

    def advance(self) -> bool:
        """Take what has arrived; return whether the stream is over."""
        try:
            over = self._take(self._receive(_PIECE_BYTES))
            while self._is_tls and not over:
                # Until OpenSSL wants more: what it has decrypted already wakes no selector.
                over = self._take(self._receive(_PIECE_BYTES))
        except _NOTHING_YET:
            return False
        except BaseException as error:  # noqa: BLE001 - raised again by `StreamThread.read`
            self.error = error
            return True
        return over


class StreamThread:
    """The thread; lives only while there are streams."""

    def __init__(self) -> None:
        self._added: deque[_WatchedStream] = deque()
        self._lock = threading.Lock()
        self._bell: socket.socket | None = None
        """Wakes the thread; None while there is none."""
        self._idle_s = _IDLE_S

    def read(self, sock: socket.socket, take: Take) -> None:
        """Pass on what arrives at a socket until `take` has enough; waits for that.

        Raises:
            OSError: If the connection breaks.
            BaseException: Whatever `take` raises.
        """
        timeout = sock.gettimeout()
        sock.setblocking(False)
        stream = _WatchedStream(sock, take)
        try:
            self._add(stream)
            # A signal right before an endless wait would be handled after it only.
            while not stream.ended.wait(_SIGNALS_S):
                pass
        except BaseException:  # Ctrl+C: the caller is about to close what the thread watches
            shut_down(sock)
            self._abandon(stream)
            raise
        if stream.error is not None:
            raise stream.error
        sock.settimeout(timeout)

    def close(self) -> None:
        """Let the thread end as soon as no stream is left."""
        with self._lock:
            self._idle_s = 0.0
            self._ring()

    def _add(self, stream: _WatchedStream) -> None:
        with self._lock:
            if self._bell is None:
                self._bell = self._start()
            self._added.append(stream)
            self._ring()

    def _abandon(self, stream: _WatchedStream) -> None:
        """Let go of a stream whose socket is shut down, however far it was added."""
        with self._lock:
            if not stream.is_taken_up:
                with suppress(ValueError):  # Ctrl+C may come before it was added
                    self._added.remove(stream)
                return
        stream.ended.wait()

    def _start(self) -> socket.socket:
        """Start the thread; return its bell."""
        bell, heard = socket.socketpair()
        try:
            bell.setblocking(False)
            heard.setblocking(False)
            threading.Thread(
                target=self._work, args=(heard,), name="poor-bench-streams", daemon=True
            ).start()
        except BaseException:
            bell.close()
            heard.close()
            raise
        return bell

    def _ring(self) -> None:
        if self._bell is not None:
            with suppress(BlockingIOError):  # full of rings: the thread will hear
                self._bell.send(b"\0")

    def _work(self, heard: socket.socket) -> None:
        with heard, selectors.DefaultSelector() as selector:
            selector.register(heard, selectors.EVENT_READ)
            while True:
                is_idle = len(selector.get_map()) == 1
                ready = selector.select(self._idle_s if is_idle else None)
                for key, _ in ready:
                    if key.data is None:
                        self._welcome(heard, selector)
                    elif key.data.advance():
                        selector.unregister(key.fd)
                        key.data.ended.set()
                if is_idle and self._may_end(ready, selector):
                    return
                if len(selector.get_map()) > _MANY:
                    time.sleep(_NAP_S)

    def _welcome(self, heard: socket.socket, selector: selectors.BaseSelector) -> None:
        with suppress(BlockingIOError):
            heard.recv(_PIECE_BYTES)
        while (stream := self._take_up()) is not None:
            # what arrived before it was watched
            if stream.advance() or not _watch(stream, selector):
                stream.ended.set()

    def _take_up(self) -> _WatchedStream | None:
        """The next stream to watch; with the lock, since `_abandon` asks who has it."""
        with self._lock:
            if not self._added:
                return None
            stream = self._added.popleft()
            stream.is_taken_up = True
            return stream

    def _may_end(self, ready: Sequence[object], selector: selectors.BaseSelector) -> bool:
        with self._lock:
            if (ready and self._idle_s) or self._added or len(selector.get_map()) > 1:
                return False
            if self._bell is not None:
                self._bell.close()
            self._bell = None
            return True


def _watch(stream: _WatchedStream, selector: selectors.BaseSelector) -> bool:
    """Watch a stream from now on; False, with its error, if the system refuses."""
    try:
        selector.register(stream.sock, selectors.EVENT_READ, stream)
    except (OSError, ValueError) as error:
        stream.error = error if isinstance(error, OSError) else OSError(str(error))
        return False
    return True
