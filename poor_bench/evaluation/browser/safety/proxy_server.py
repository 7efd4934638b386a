"""The connections of the filtering proxy: tunnels (CONNECT) and plain HTTP requests."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

from poor_bench.evaluation.browser.safety.network import Gatekeeper, RefusedAddressError
from poor_bench.evaluation.browser.safety.relay import relay

_IDLE_S = 300.0
_PIECE = 65536
_BETWEEN_NEIGHBOURS = frozenset(
    {
        "connection", "keep-alive", "proxy-connection", "proxy-authorization",
        "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that concern one connection only and are not passed on."""


class ProxyServer(ThreadingTCPServer):
    """Listens on a free loopback port; one thread per connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, gatekeeper: Gatekeeper) -> None:
        super().__init__(("127.0.0.1", 0), ProxyConnection)
        self.gatekeeper = gatekeeper
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then serve it in a thread of its own."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection and close it."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: browsers break connections off all the time."""

    def break_off(self) -> None:
        """End all connections that are still open."""
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ProxyConnection(BaseHTTPRequestHandler):
    """One connection of the browser: one tunnel, or one request."""

    server: ProxyServer
    protocol_version = "HTTP/1.0"  # no second request on the same connection
    timeout = _IDLE_S

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        """Write nothing."""

    def parse_request(self) -> bool:
        """Read the request, and serve every method alike, except CONNECT."""
        if super().parse_request():
            self.close_connection = True
            self._tunnel() if self.command == "CONNECT" else self._forward()
        return False

    def _tunnel(self) -> None:
        target = urlsplit(f"//{self.path}")
        upstream = self._connected(target.hostname, target.port)
        if upstream is None:
            return
        with upstream:
            self.send_response_only(200)
            self.end_headers()
            budget = self.server.gatekeeper.budget
            relay(self.connection, upstream, idle_s=_IDLE_S, count=budget.take)

    def _forward(self) -> None:
        target = urlsplit(self.path)
        if target.scheme != "http" or "chunked" in self.headers.get("Transfer-Encoding", ""):
            self._answer(400, "only plain requests to http URLs are passed on")
            return
        upstream = self._connected(target.hostname, target.port or 80)
        if upstream is None:
            return
        with upstream:
            path = target._replace(scheme="", netloc="", fragment="").geturl() or "/"
            try:
                self._exchange(upstream, target.netloc, path)
            except http.client.HTTPException as error:
                self._answer(502, f"not an HTTP answer: {error!r}")

    def _connected(self, host: str | None, port: int | None) -> socket.socket | None:
        if not host or port is None:
            self._answer(400, "the request names no host and port")
            return None
        try:
            return self.server.gatekeeper.connect(host, port)
        except RefusedAddressError as error:
            self._answer(403, f"{host} is {error}")
        except (OSError, UnicodeError) as error:
            self._answer(502, f"{host} cannot be reached: {error}")
        return None

    def _exchange(self, upstream: socket.socket, netloc: str, path: str) -> None:
        upstream.settimeout(_IDLE_S)
        connection = http.client.HTTPConnection(netloc)
        connection.sock = upstream
        connection.putrequest(self.command, path, skip_host=True, skip_accept_encoding=True)
        for name, value in _passed_on(self.headers):
            connection.putheader(name, value)
        connection.putheader("Connection", "close")
        connection.endheaders()
        self._send_body(upstream)
        with connection.getresponse() as response:
            self._send_back(response)

    def _send_body(self, upstream: socket.socket) -> None:
        left = int(self.headers.get("Content-Length", 0))
        while left > 0 and (piece := self.rfile.read1(min(left, _PIECE))):
            upstream.sendall(piece)
            left -= len(piece)

    def _send_back(self, response: http.client.HTTPResponse) -> None:
        self.send_response_only(response.status, response.reason)
        for name, value in _passed_on(response.headers):
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := response.read1(_PIECE):
            self.server.gatekeeper.budget.take(len(piece))
            self.wfile.write(piece)

    def _answer(self, status: int, message: str) -> None:
        body = f"poor_bench: {message}\n".encode("utf-8", "replace")
        self.send_response_only(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _passed_on(headers: http.client.HTTPMessage | Any) -> list[tuple[str, str]]:
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    return [
        (name, " ".join(value.splitlines()))
        for name, value in headers.items()
        if name.lower() not in _BETWEEN_NEIGHBOURS | named
    ]
