"""The reply to one request while it arrives, within the limits of its call."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.transport import reply
from poor_bench.providers.transport.chunks import BadChunkError, ChunkedBody
from poor_bench.providers.transport.stream_thread import StreamThread
from poor_bench.providers.transport.watch import CallWatch

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

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
        """Return the whole body; raises as `feed`."""
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
        except transport_exceptions():
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


def transport_exceptions() -> tuple[type[Exception], ...]:
    """List the exceptions that the HTTP libraries raise if a request fails in transit."""
    from urllib3.exceptions import HTTPError

    return HTTPError, http.client.HTTPException, OSError


def is_hang_up(error: Exception) -> bool:
    """True if the other side closed the connection before it replied anything."""
    from urllib3.exceptions import ProtocolError

    causes = error.args if isinstance(error, ProtocolError) else (error,)
    return any(isinstance(cause, ConnectionError) for cause in causes)


def _find_body(response: BaseHTTPResponse) -> http.client.HTTPResponse | None:
    """Return the body below urllib3 if it comes in chunks and is neither packed nor half read."""
    body = getattr(response, "_fp", None)
    is_chunked = isinstance(body, http.client.HTTPResponse) and body.chunked
    return body if is_chunked and not response.headers.get("content-encoding") else None


def _close_body(response: BaseHTTPResponse) -> None:
    """Tell http.client that the body is read, so that the connection takes another request."""
    body = _find_body(response)
    if body is not None:
        body.close()


def _read_buffered(sock: socket.socket, body: http.client.HTTPResponse) -> bytes:
    """Return what has been read of a body together with its headers."""
    timeout = sock.gettimeout()
    sock.setblocking(False)
    try:
        with suppress(ssl.SSLWantReadError):
            return body.fp.peek()
        return b""
    finally:
        sock.settimeout(timeout)
