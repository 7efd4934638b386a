"""The WSGI server, bounded against clients that send too much, too slowly or without leave."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer, create_server
from waitress.utilities import Error

if TYPE_CHECKING:
    from flask import Flask

    from poor_bench.dashboard.web.access import Guard, Refusal

THREADS = 16
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
MAX_CONNECTIONS = 256
"""Beyond it, the connection that has waited longest in the middle of a request is closed."""
HEADER_S, BODY_S, IDLE_S = 10.0, 60.0, 30.0


def open_server(app: Flask, guard: Guard) -> Any:
    """Bind to the address of `guard.access`; `run` of the answer serves until interrupted.

    Raises:
        OSError: If the address cannot be used.
    """
    access = guard.access
    dispatchers: dict[int, Any] = {}
    server = create_server(
        app,
        map=dispatchers,
        host=access.host,
        port=access.port,
        threads=THREADS,
        ident=None,
        max_request_body_size=MAX_BODY_BYTES,
        max_request_header_size=MAX_HEADER_BYTES,
        connection_limit=2 * MAX_CONNECTIONS,
        channel_timeout=IDLE_S,
        cleanup_interval=5,
        asyncore_use_poll=hasattr(select, "poll"),
    )
    guarded = type("GuardedChannel", (BoundedChannel,), {"guard": guard})
    for dispatcher in list(dispatchers.values()):
        if isinstance(dispatcher, TcpWSGIServer):  # several where a name has several addresses
            dispatcher.channel_class = guarded
    return server


class _RefusedError(Error):
    """The answer to a request that is refused before its body is read."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.code, self.reason = refusal.status.value, refusal.status.phrase


class BoundedChannel(HTTPChannel):
    """One connection; a request of it has to be complete within a time."""

    guard: Guard
    parser_class: Any
    server: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._began: float | None = time.monotonic()
        super().__init__(*arguments, **named)
        self.parser_class = self._parser
        _drop_the_slowest(self.server.active_channels.values())

    @property
    def waits_since(self) -> float | None:
        """When the request began that is not complete yet, by the monotonic clock; else None."""
        return None if self.requests else self._began

    def _parser(self, adj: Any) -> BoundedParser:
        return BoundedParser(adj, self.guard, self.addr[0])

    def received(self, data: bytes) -> bool:
        """Note when an incomplete request began."""
        if self.request is None:
            self._began = time.monotonic()
        is_taken: bool = super().received(data)
        if self.request is None:
            self._began = None
        return is_taken

    def readable(self) -> bool:
        """Close the connection if its request takes too long; asked about once a second."""
        if (since := self.waits_since) is not None:
            is_body = self.request is not None and self.request.headers_finished
            if time.monotonic() - since > (BODY_S if is_body else HEADER_S):
                self.will_close = True
        return bool(super().readable())


def _drop_the_slowest(channels: Any) -> None:
    """Close the longest incomplete request, so that no crowd of them keeps others out."""
    if len(channels) <= MAX_CONNECTIONS:
        return
    waiting = [c for c in channels if c.waits_since is not None and not c.will_close]
    if waiting:
        min(waiting, key=lambda channel: channel.waits_since).will_close = True


class BoundedParser(HTTPRequestParser):
    """Refuses a request with a body as soon as its headers are there, before anything is kept."""

    command: Any
    """Text, though the stubs of waitress say bytes."""

    def __init__(self, adj: Any, guard: Guard, address: str) -> None:
        super().__init__(adj)
        self._guard, self._address = guard, address
        self._is_checked = False

    def received(self, data: bytes) -> int:
        """Take bytes of the request; return how many."""
        n_taken: int = super().received(data)
        if self.headers_finished and not self._is_checked:
            self._is_checked = True
            if not self.completed:
                self._check()
        if self.error is not None:
            self.expect_continue = False  # or waitress asks for the body all the same
        return n_taken

    def _check(self) -> None:
        refusal = self._guard.find_refusal(self.command, self._header, self._address)
        if refusal is not None:
            self.error, self.completed = _RefusedError(refusal), True

    def _header(self, name: str) -> str | None:
        value: str | None = self.headers.get(name.upper().replace("-", "_"))
        return value
