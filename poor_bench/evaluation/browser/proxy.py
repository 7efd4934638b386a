"""A forward proxy that all traffic of a browser under test has to go through.

Redirects, subresources, popups and WebSockets are nothing special here: each is a connection
that is asked for, judged by the `AddressFilter`, and made to exactly the address that was judged.
Every connection of the browser carries one request, so that a server can never be handed a
request that was meant for another one.
"""

from __future__ import annotations

import contextlib
import http.client
import selectors
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from socketserver import ThreadingTCPServer
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from poor_bench.evaluation.browser.addresses import Address, explain_refusal

CONNECT_TIMEOUT_S = 20.0


class Network(Protocol):
    """Network functions of the filter."""

    def resolve(self, host: str) -> list[Address]:
        """Find all addresses of a host, which may be an address in any spelling.

        Raises:
            OSError: If it does not have one.
        """

    def dial(self, address: Address, port: int) -> socket.socket:
        """Connect to exactly this address.

        Raises:
            OSError: If it does not answer.
        """


class SystemNetwork:
    """The machine's own resolver and sockets."""

    def resolve(self, host: str) -> list[Address]:
        """Ask the machine's resolver."""
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]

    def dial(self, address: Address, port: int) -> socket.socket:
        """Open a TCP connection."""
        return socket.create_connection((str(address), port), timeout=CONNECT_TIMEOUT_S)


class RefusedAddressError(Exception):
    """A host must not be reached; the message says why."""


@dataclass(frozen=True, slots=True)
class RefusedHost:
    """One attempt to reach what must not be reached."""

    host: str
    reason: str


class AddressFilter:
    """Connects to hosts that may be reached, and remembers whom it refused."""

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self.budget = ByteBudget()
        self._network = network
        self._allow_private = allow_private
        self._refusals: list[RefusedHost] = []
        self._complaints: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def refusals(self) -> tuple[RefusedHost, ...]:
        """Everything that was refused so far, in order."""
        with self._lock:
            return tuple(self._refusals)

    def complaint(self, host: str) -> str | None:
        """Explain why the last connection to a host failed; None if it succeeded."""
        with self._lock:
            return self._complaints.get(host)

    def connect(self, host: str, port: int) -> socket.socket:
        """Connect to one of the addresses of `host`, after all of them were checked.

        Raises:
            RefusedAddressError: If one of its addresses must not be reached.
            OSError: If the host does not exist, or does not answer.
        """
        try:
            addresses = self._network.resolve(host)
            for address in addresses:
                self._judge(host, address)
            connection = self._dial_first(addresses, port)
        except (RefusedAddressError, OSError, UnicodeError) as error:
            with self._lock:
                self._complaints[host] = f"{host}: {error}"
            raise
        with self._lock:
            self._complaints.pop(host, None)
        return connection

    def _judge(self, host: str, address: Address) -> None:
        reason = None if self._allow_private else explain_refusal(address)
        if reason is not None:
            with self._lock:
                self._refusals.append(RefusedHost(host, reason))
            message = f"refused, since {address} is {reason}; see allow_private_networks"
            raise RefusedAddressError(message)

    def _dial_first(self, addresses: list[Address], port: int) -> socket.socket:
        failure = OSError("the name does not resolve to an address")
        for address in addresses:
            try:
                return self._network.dial(address, port)
            except OSError as error:
                failure = error
        raise failure


MOST_BYTES = 500_000_000


class ByteBudget:
    """Counts down from several threads."""

    def __init__(self, n_bytes: int = MOST_BYTES) -> None:
        self._n_left = n_bytes
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> None:
        """Use up some bytes.

        Raises:
            OSError: If there are not so many left; the connection is broken off then.
        """
        with self._lock:
            self._n_left -= n_bytes
            if self._n_left < 0:
                raise OSError("the trial received too much data")


_PIECE = 65536


def relay(
    one: socket.socket, other: socket.socket, *, idle_s: float, count: Callable[[int], None]
) -> None:
    """Copy bytes in both directions until one side closes or nothing comes for `idle_s` seconds.

    Args:
        one: An open connection.
        other: Another one.
        idle_s: How long both may be silent.
        count: Told how many bytes are about to be passed on; may raise OSError.

    Raises:
        OSError: If a connection breaks.
    """
    peers = {one: other, other: one}
    for end in peers:
        end.settimeout(idle_s)
    with selectors.DefaultSelector() as selector:
        for end in peers:
            selector.register(end, selectors.EVENT_READ)
        while ready := selector.select(idle_s):
            for key, _events in ready:
                source = key.fileobj
                assert isinstance(source, socket.socket)
                piece = source.recv(_PIECE)
                if not piece:
                    return
                count(len(piece))
                peers[source].sendall(piece)


_IDLE_S = 300.0
_BETWEEN_NEIGHBOURS = frozenset(
    {
        "connection", "keep-alive", "proxy-connection", "proxy-authorization",
        "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that concern one connection only and are not passed on."""


class FilteringProxy(ThreadingTCPServer):
    """The proxy of one trial, on a free loopback port; use it as a context manager."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *, allow_private: bool, network: Network | None = None) -> None:
        super().__init__(("127.0.0.1", 0), ProxyConnection)
        self.filter = AddressFilter(network or SystemNetwork(), allow_private=allow_private)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def address(self) -> str:
        """The URL that the browser is given."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

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


class ProxyConnection(BaseHTTPRequestHandler):
    """One connection of the browser: one tunnel, or one request."""

    server: FilteringProxy
    protocol_version = "HTTP/1.0"  # no second request on the same connection
    timeout = _IDLE_S
    disable_nagle_algorithm = True  # small records of a tunnel would wait 40 ms for a receipt

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
        upstream = self._connect(target.hostname, target.port)
        if upstream is None:
            return
        with upstream:
            self.send_response_only(200)
            self.end_headers()
            budget = self.server.filter.budget
            relay(self.connection, upstream, idle_s=_IDLE_S, count=budget.take)

    def _forward(self) -> None:
        target = urlsplit(self.path)
        if target.scheme != "http" or "chunked" in self.headers.get("Transfer-Encoding", ""):
            self._answer(400, "only plain requests to http URLs are passed on")
            return
        upstream = self._connect(target.hostname, target.port or 80)
        if upstream is None:
            return
        with upstream:
            path = target._replace(scheme="", netloc="", fragment="").geturl() or "/"
            try:
                self._exchange(upstream, target.netloc, path)
            except http.client.HTTPException as error:
                self._answer(502, f"not an HTTP answer: {error!r}")

    def _connect(self, host: str | None, port: int | None) -> socket.socket | None:
        if not host or port is None:
            self._answer(400, "the request names no host and port")
            return None
        try:
            return self.server.filter.connect(host, port)
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
        for name, value in _select_headers(self.headers):
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
        for name, value in _select_headers(response.headers):
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := response.read1(_PIECE):
            self.server.filter.budget.take(len(piece))
            self.wfile.write(piece)

    def _answer(self, status: int, message: str) -> None:
        body = f"poor_bench: {message}\n".encode("utf-8", "replace")
        self.send_response_only(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _select_headers(headers: http.client.HTTPMessage | Any) -> list[tuple[str, str]]:
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    return [
        (name, " ".join(value.splitlines()))
        for name, value in headers.items()
        if name.lower() not in _BETWEEN_NEIGHBOURS | named
    ]
