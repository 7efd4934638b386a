"""One HTTP server: send a request, get its reply in pieces, within the limits of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from poor_bench import __version__
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl, Clock
from poor_bench.providers.transport.http_reply import Reply, is_hang_up, transport_exceptions
from poor_bench.providers.transport.stream_thread import StreamThread
from poor_bench.providers.transport.watch import CallWatch, Watchdog

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from poor_bench.providers.transport.connections import ServerPool

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
        except transport_exceptions() as error:
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
                except transport_exceptions() as error:
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
