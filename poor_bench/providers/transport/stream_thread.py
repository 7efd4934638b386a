"""Reads all streamed replies of one server in one thread.

A thread per stream wakes up for each piece, and thousands of switches a second cost more than the
pieces. Here each caller sleeps until its reply is complete, and one thread takes what arrives.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from poor_bench.providers.transport.watch import shut_down

_PIECE_BYTES = 64 * 1024
_IDLE_S = 5.0
_MANY = 16
_NAP_S = 0.002
"""With many streams, the thread waits for several pieces before it wakes up for them."""
_NOTHING_YET = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

Take = Callable[[bytes], bool]
"""Takes what arrived, nothing at the end; true if it has enough; what it raises ends the stream."""


class _Stream:
    """One socket and who takes what arrives there."""

    __slots__ = ("_is_tls", "_receive", "_take", "ended", "error", "sock")

    def __init__(self, sock: socket.socket, take: Take) -> None:
        self.sock = sock
        self._receive = sock.recv
        self._is_tls = isinstance(sock, ssl.SSLSocket)
        self._take = take
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
        self._added: deque[_Stream] = deque()
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
        stream = _Stream(sock, take)
        self._add(stream)
        try:
            stream.ended.wait()
        except BaseException:  # Ctrl+C: the caller is about to close what the thread watches
            shut_down(sock)
            stream.ended.wait()
            raise
        if stream.error is not None:
            raise stream.error
        sock.settimeout(timeout)

    def close(self) -> None:
        """Let the thread end as soon as no stream is left."""
        with self._lock:
            self._idle_s = 0.0
            self._ring()

    def _add(self, stream: _Stream) -> None:
        with self._lock:
            if self._bell is None:
                self._bell = self._start()
            self._added.append(stream)
            self._ring()

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
        while self._added:
            stream = self._added.popleft()
            # what arrived before it was watched
            if stream.advance() or not _watch(stream, selector):
                stream.ended.set()

    def _may_end(self, ready: Sequence[object], selector: selectors.BaseSelector) -> bool:
        with self._lock:
            if (ready and self._idle_s) or self._added or len(selector.get_map()) > 1:
                return False
            if self._bell is not None:
                self._bell.close()
            self._bell = None
            return True


def _watch(stream: _Stream, selector: selectors.BaseSelector) -> bool:
    """Watch a stream from now on; False, with its error, if the system refuses."""
    try:
        selector.register(stream.sock, selectors.EVENT_READ, stream)
    except (OSError, ValueError) as error:
        stream.error = error if isinstance(error, OSError) else OSError(str(error))
        return False
    return True
