"""Who may ask the dashboard: pure decisions about one request."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules of one server.

    On a loopback address no other name than the machine's own is answered, so that a web page
    elsewhere cannot reach the dashboard under a name of its own (DNS rebinding). On any other
    address the name is not known in advance, and the password stands in.
    """

    host: str
    port: int
    password: str | None = field(default=None, repr=False)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request gets no answer."""

    status: HTTPStatus
    message: str


def is_loopback(host: str) -> bool:
    """Return whether an address to bind to is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal_of(access: Access, method: str, header: Callable[[str], str | None]) -> Refusal | None:
    """Return why a request is refused; None where it may pass.

    Args:
        access: The rules.
        method: HTTP method, upper case.
        header: Returns a request header by its name, None where there is none.
    """
    host = header("Host") or ""
    if access.is_local and not _is_own_name(access, host):
        return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This name is not the dashboard's own.")
    origin = header("Origin")
    if origin is not None and not _is_own_origin(access, origin, host):
        return Refusal(HTTPStatus.FORBIDDEN, "Requests from other sites are refused.")
    if method not in _READING and header("Sec-Fetch-Site") in _OTHER_SITES:
        return Refusal(HTTPStatus.FORBIDDEN, "Requests from other sites are refused.")
    if access.password is not None and not _has_password(access.password, header("Authorization")):
        return Refusal(HTTPStatus.UNAUTHORIZED, "The dashboard needs its password.")
    return None


def _is_own_name(access: Access, host: str) -> bool:
    if "@" in host:
        return False
    try:
        parts = urlsplit(f"//{host}")
        name, port = parts.hostname, parts.port
    except ValueError:
        return False
    return name in _LOOPBACK_NAMES | {access.host} and (port or 80) == access.port


def _is_own_origin(access: Access, origin: str, host: str) -> bool:
    """Return whether a page of the dashboard's own sent a request.

    On a loopback address nothing stands between browser and dashboard, so a page that came by TLS
    came from another server. On any other address a proxy may add TLS, of which nothing is seen
    here: both schemes pass. A page of the one that posts to the other is then still told from ours
    by `Sec-Fetch-Site`, which browsers send to addresses with TLS, and which heeds the scheme.
    """
    schemes = ("http",) if access.is_local else ("http", "https")
    return origin in {f"{scheme}://{host}" for scheme in schemes}


def _has_password(password: str, authorization: str | None) -> bool:
    """Compare in constant time with the password of HTTP basic authentication; any user name."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        given = base64.b64decode(encoded, validate=True).partition(b":")[2]
    except binascii.Error:
        return False
    return hmac.compare_digest(given, password.encode())
