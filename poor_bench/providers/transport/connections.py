"""Connections to one endpoint, kept open between calls; proxies and certificates included."""

from __future__ import annotations

import ipaddress
import socket
import urllib.request
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProxySchemeUnknown,
)

from poor_bench.errors import ConfigError
from poor_bench.providers.transport.watch import CallWatch, shut_down


def find_proxy(url: str) -> tuple[str, str] | None:
    """Find the proxy for a URL and its credentials; None to connect directly.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are followed (and the system's settings on
    macOS and Windows); this machine itself is never asked through a proxy.

    Returns:
        The proxy's URL without user name and password, and `user:password` or an empty text.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or _is_this_machine(host) or urllib.request.proxy_bypass(host):
        return None
    return _drop_credentials(proxy if "://" in proxy else f"http://{proxy}")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _drop_credentials(proxy: str) -> tuple[str, str]:
    parts = urlsplit(proxy)
    credentials, _, address = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, address, "", "", "")), unquote(credentials)


CURRENT_WATCH: ContextVar[CallWatch] = ContextVar("current_watch")
"""The call that the present thread makes; connections report to it."""

_MOST_IDLE = 256
_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


class _WatchedConnection(HTTPConnection):
    """Tells the call that uses it how to hang up; sends a request in one packet."""

    watch: CallWatch | None = None
    n_requests = 0
    _held: list[bytes] | None = None
    _replying: socket.socket | None = None
    """The reply comes from here; http.client forgets `sock` after `Connection: close`."""

    def connect(self) -> None:
        CURRENT_WATCH.get().use(self)
        self.n_requests = 0
        super().connect()

    def request(self, *args: Any, **kwargs: Any) -> None:
        CURRENT_WATCH.get().use(self)
        self._held = []
        try:
            super().request(*args, **kwargs)
        finally:
            held, self._held = self._held, None
        if self.sock is None:
            self.connect()
        self._replying = self.sock
        self.n_requests += 1
        self.send(b"".join(held))

    def send(self, data: Any) -> None:
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def hang_up(self) -> None:
        sock = self.sock or self._replying
        if sock is not None:
            shut_down(sock)

    def _new_conn(self) -> socket.socket:
        """Connect as urllib3 does, but with the socket in sight, so that it can be hung up."""
        try:
            return self._dial()
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "no connection in time") from error
        except OSError as error:
            raise NewConnectionError(self, "no connection") from error

    def _dial(self) -> socket.socket:
        failure: OSError | None = None
        found = socket.getaddrinfo(self.host.strip("[]"), self.port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, address in found:
            sock = self.sock = socket.socket(family, kind, protocol)
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(self.timeout)
                sock.connect(address)
            except OSError as error:
                sock.close()
                self.sock, failure = None, error
            else:
                return sock
        raise failure or OSError("the host has no address")


class _WatchedTLSConnection(_WatchedConnection, HTTPSConnection):
    """The same over TLS."""


@dataclass(frozen=True, slots=True)
class ServerPool:
    """Connections to one server, and how a URL of it is written in a request."""

    connections: urllib3.HTTPConnectionPool
    url_prefix: str
    """Empty, or scheme and host where a proxy wants them."""


def open_pool(url: str, environ: Mapping[str, str]) -> ServerPool:
    """Make connections to the server of `url`; none is open yet.

    Certificates are always verified, against the bundle that REQUESTS_CA_BUNDLE,
    CURL_CA_BUNDLE or SSL_CERT_FILE names, else against certifi's.

    Raises:
        ConfigError: If the proxy or the bundle that the environment names cannot be used.
    """
    parts = urlsplit(url)
    options: dict[str, Any] = {"maxsize": _MOST_IDLE}
    if parts.scheme == "https":
        options.update(_choose_certificates(environ))
    through = find_proxy(url)
    manager = urllib3.PoolManager(**options) if through is None else _open_proxy(*through, options)
    pool = manager.connection_from_url(url)
    pool.ConnectionCls = _WatchedTLSConnection if pool.scheme == "https" else _WatchedConnection
    forwarded = through is not None and parts.scheme == "http"
    return ServerPool(pool, f"http://{parts.netloc}" if forwarded else "")


def _open_proxy(proxy: str, credentials: str, options: Mapping[str, Any]) -> urllib3.ProxyManager:
    headers = urllib3.make_headers(proxy_basic_auth=credentials) if credentials else None
    try:
        return urllib3.ProxyManager(proxy, proxy_headers=headers, **options)
    except (LocationValueError, ProxySchemeUnknown) as error:
        raise ConfigError(
            f"the proxy {proxy!r} of the environment cannot be used",
            hint="HTTP_PROXY and HTTPS_PROXY take such as http://proxy.example:3128",
        ) from error


def _choose_certificates(environ: Mapping[str, str]) -> dict[str, Any]:
    variable = next((name for name in _CA_VARIABLES if environ.get(name)), None)
    bundle = Path(environ[variable]) if variable else _find_bundle()
    if not bundle.exists():
        raise ConfigError(f"{variable} names {bundle}, which does not exist")
    kind = "ca_cert_dir" if bundle.is_dir() else "ca_certs"
    return {"cert_reqs": "CERT_REQUIRED", kind: str(bundle)}


def _find_bundle() -> Path:
    import certifi

    return Path(certifi.where())
