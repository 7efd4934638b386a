"""One HTTP server: send a request, read its reply while it arrives, within the limits of a call."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from poor_bench import __version__
from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl, Clock
from poor_bench.providers.transport import reply
from poor_bench.providers.transport.reply import BadChunkError, ChunkedBody
from poor_bench.providers.transport.watch import CallWatch, StreamThread, Watchdog

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from poor_bench.providers.transport.connections import ServerPool


_PIECE_BYTES = 64 * 1024
_DRAIN_S = 0.2


class Reply:
    """The reply to one request while it arrives."""

    def __init__(self, response: BaseHTTPResponse, watch: CallWatch, streams: StreamThread) -> None:
        self._response = response
        self._streams = streams
        self._chunks: ChunkedBody | None = None
        """Set once the body is read past urllib3."""
        self._n_bytes = 0
        self._at_end = False
        self.watch = watch
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    def feed(self, take: Callable[[bytes], bool]) -> bool:
        """Pass the body on as it arrives until `take` has enough; return whether it had.

        A body in chunks is read by the thread of all streams, which also calls `take`.

        Raises:
            ProviderError: If a deadline passes, or the body is larger than 32 MiB.
            RunCancelledError: If the run was cancelled.
        """
        body = _find_body(self._response)
        sock = getattr(self._response.connection, "sock", None)
        if body is None or not isinstance(sock, socket.socket):
            return any(map(take, self.pieces()))
        self._chunks = ChunkedBody()
        taker = _ChunkTaker(self._chunks, self._count, take, self.watch.note_end)
        buffered = _read_buffered(sock, body)
        if not (buffered and taker.take(buffered)):
            self._streams.read(sock, taker.take)
        self._at_end = self._chunks.at_end
        self.watch.raise_if_over()
        return taker.has_enough

    def pieces(self, most_bytes: int = reply.MOST_BYTES) -> Iterator[bytes]:
        """Yield the body as it arrives, up to a size; raises as `feed`."""
        while piece := self._response.read1(_PIECE_BYTES):
            self._count(piece, most_bytes)
            self.watch.raise_if_over()
            yield piece
        self._at_end = True
        self.watch.raise_if_over()

    def _count(self, piece: bytes, most_bytes: int = reply.MOST_BYTES) -> None:
        self._n_bytes += len(piece)
        if self._n_bytes > most_bytes:
            message = f"the reply is larger than {most_bytes >> 20} MiB"
            raise ProviderError(message, kind=FailureKind.MALFORMED_REPLY)

    def read(self) -> bytes:
        """Read the whole body; raises as `feed`."""
        return b"".join(self.pieces())

    def finish(self) -> None:
        """Keep the connection for the next call if nothing is left on it, else close it."""
        if not self._at_end:
            self._at_end = self._ends_now()
        self.abandon()

    def abandon(self) -> None:
        """Close the connection unless the reply has ended."""
        if not self._at_end:
            self._response.close()
        elif self._chunks is not None:
            _close_body(self._response)
        self._response.release_conn()

    def _ends_now(self) -> bool:
        """True if nothing follows, waiting for a moment only: a server may stay silent."""
        sock = getattr(self._response.connection, "sock", None)
        if sock is None:
            return False
        timeout = sock.gettimeout()
        sock.settimeout(_DRAIN_S)
        try:
            ended = self._drain(sock)
            sock.settimeout(timeout)
        except list_transport_exceptions():
            return False
        return ended

    def _drain(self, sock: socket.socket) -> bool:
        """Read once more; True if that is the end."""
        if self._chunks is None:
            return not self._response.read1(_PIECE_BYTES)
        with suppress(BadChunkError):
            return not self._chunks.feed(sock.recv(_PIECE_BYTES)) and self._chunks.at_end
        return False


class _ChunkTaker:
    """Takes bytes of a chunked body, passes on what they hold, and says when that is enough."""

    def __init__(
        self,
        chunks: ChunkedBody,
        count: Callable[[bytes], None],
        take: Callable[[bytes], bool],
        note_end: Callable[[], None],
    ) -> None:
        self._chunks = chunks
        self._count = count
        self._take = take
        self._note_end = note_end
        self.has_enough = False

    def take(self, data: bytes) -> bool:
        if not data:
            raise http.client.IncompleteRead(b"")
        try:
            body = self._chunks.feed(data)
        except BadChunkError as error:
            raise http.client.IncompleteRead(b"") from error
        if body:
            self._count(body)
            self.has_enough = self._take(body)
        over = self.has_enough or self._chunks.at_end
        if over:
            self._note_end()
        return over


def list_transport_exceptions() -> tuple[type[Exception], ...]:
    """List the exceptions that the HTTP libraries raise if a request fails in transit."""
    from urllib3.exceptions import HTTPError

    return HTTPError, http.client.HTTPException, OSError


def is_hang_up(error: Exception) -> bool:
    """True if the other side closed the connection before it replied anything."""
    from urllib3.exceptions import ProtocolError

    causes = error.args if isinstance(error, ProtocolError) else (error,)
    return any(isinstance(cause, ConnectionError) for cause in causes)


def _find_body(response: BaseHTTPResponse) -> http.client.HTTPResponse | None:
    """Find the body below urllib3 if it comes in chunks and is neither packed nor half read."""
    body = getattr(response, "_fp", None)
    is_chunked = isinstance(body, http.client.HTTPResponse) and body.chunked
    return body if is_chunked and not response.headers.get("content-encoding") else None


def _close_body(response: BaseHTTPResponse) -> None:
    """Tell http.client that the body is read, so that the connection takes another request."""
    body = _find_body(response)
    if body is not None:
        body.close()


def _read_buffered(sock: socket.socket, body: http.client.HTTPResponse) -> bytes:
    """Take the start of a body that was read together with its headers."""
    timeout = sock.gettimeout()
    sock.setblocking(False)
    try:
        with suppress(ssl.SSLWantReadError):
            return body.fp.peek()
        return b""
    finally:
        sock.settimeout(timeout)


_SPARE_S = 5.0
_USER_AGENT = f"poor-bench/{__version__}"


class TransportError(Exception):
    """A request that failed below HTTP; its cause is the library's exception.

    Attributes:
        replied: Whether the server had begun to reply.
    """

    def __init__(self, cause: Exception, *, replied: bool) -> None:
        super().__init__(type(cause).__name__)
        self.cause = cause
        self.replied = replied


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, without what is the same for all of a server's."""

    method: str
    path: str
    """Below the server's URL."""
    headers: Mapping[str, str]
    body: bytes | None = None


class Server:
    """An HTTP server that is asked by several threads at once."""

    def __init__(self, url: str, environ: Mapping[str, str], clock: Clock) -> None:
        self.url = url
        self._path = urlsplit(url).path
        self._environ = environ
        self._clock = clock
        self._pool: ServerPool | None = None
        self._watchdog = Watchdog()
        self._streams = StreamThread()

    @contextmanager
    def exchange(self, request: HttpRequest, control: CallControl) -> Iterator[Reply]:
        """Send a request; the reply can be read inside the context.

        A connection that was kept open may have been closed by the server in the meantime; the
        request is then sent again on another one.

        Raises:
            TransportError: If the server cannot be reached, or breaks off.
            ProviderError: If a deadline passes, or the reply is too large.
            RunCancelledError: If the run was cancelled.
            ConfigError: If the proxy or certificates of the environment cannot be used.
        """
        pool = self._open()
        watch = CallWatch(control, self._clock)
        watch.raise_if_over()
        reply = None
        try:
            with self._watchdog.guarding(watch):
                reply = Reply(self._send(pool, request, control, watch), watch, self._streams)
                yield reply
                reply.finish()
        except list_transport_exceptions() as error:
            watch.raise_if_over()
            raise TransportError(error, replied=reply is not None) from error
        finally:
            if reply is not None:
                reply.abandon()

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._watchdog.close()
        self._streams.close()
        if self._pool is not None:
            self._pool.connections.close()

    def _send(
        self, pool: ServerPool, request: HttpRequest, control: CallControl, watch: CallWatch
    ) -> BaseHTTPResponse:
        from poor_bench.providers.transport.connections import CURRENT_WATCH

        token = CURRENT_WATCH.set(watch)
        try:
            while True:
                try:
                    return self._send_once(pool, request, control.timeouts)
                except list_transport_exceptions() as error:
                    if not (watch.line_is_used and is_hang_up(error)):
                        raise
                    watch.raise_if_over()
        finally:
            CURRENT_WATCH.reset(token)

    def _send_once(
        self, pool: ServerPool, request: HttpRequest, timeouts: Timeouts
    ) -> BaseHTTPResponse:
        import urllib3

        longest_silence_s = timeouts.total_s + _SPARE_S
        return pool.connections.urlopen(
            request.method,
            f"{pool.url_prefix}{self._path}{request.path}",
            body=request.body,
            headers={"User-Agent": _USER_AGENT, **request.headers},
            timeout=urllib3.Timeout(connect=timeouts.connect_s, read=longest_silence_s),
            retries=False,
            redirect=False,
            assert_same_host=False,
            preload_content=False,
        )

    def _open(self) -> ServerPool:
        if self._pool is None:
            from poor_bench.providers.transport.connections import open_pool

            self._pool = open_pool(self.url, self._environ)
        return self._pool
