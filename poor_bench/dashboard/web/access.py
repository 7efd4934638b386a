"""Who may ask the dashboard, and in which form: pure decisions about one request."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules of one server.

    On a loopback address no other name than the machine's own is answered, so that a web page
    elsewhere cannot reach the dashboard under a name of its own (DNS rebinding). On any other
    address the name is not known in advance, and the password stands in.

    Attributes:
        host: Address that the server binds to.
        port: Its TCP port.
        password: Asked for by HTTP basic authentication; None where a token or nothing is.
        token: Opens the dashboard as part of a link, so that other users of the same machine
            cannot drive the runner; None where a password or nothing does.
        session: What the cookie holds once password or token were right; new with each start,
            unless the token is kept.
    """

    host: str
    port: int
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    session: str = field(default="", repr=False)

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect."""
        return is_loopback(self.host)

    @property
    def cookie(self) -> str:
        """Name of the session's cookie; browsers share cookies among the ports of one machine."""
        return f"poor_bench_{self.port}"

    def is_token(self, given: str) -> bool:
        """True if a link holds the right token; compared in constant time."""
        return self.token is not None and _is_same(given, self.token)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request gets no answer."""

    status: HTTPStatus
    message: str
    retry_after_s: int = 0


class LoginLimiter:
    """Slow down whoever guesses passwords.

    After `free` wrong passwords an address waits 1 s, then 2, 4, 8 ... up to 5 minutes; a right
    password in between is refused, too, or guessing would go on. At most `size` addresses are
    kept: the one that failed longest ago is forgotten first.
    """

    _LONGEST_S = 300.0

    def __init__(self, monotonic: Callable[[], float], free: int = 5, size: int = 4096) -> None:
        self._monotonic = monotonic
        self._free, self._size = free, size
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """Network to the number of wrong passwords, and until when it waits."""
        self._lock = threading.Lock()

    def wait_s(self, address: str) -> float:
        """Compute how many seconds an address has to wait before its next try; 0 for none."""
        with self._lock:
            _, until = self._failures.get(_network(address), (0, 0.0))
        return max(0.0, until - self._monotonic())

    def note_failure(self, address: str) -> None:
        """Count a wrong password."""
        network, now = _network(address), self._monotonic()
        with self._lock:
            n_failures = self._failures.pop(network, (0, 0.0))[0] + 1
            doublings = n_failures - self._free
            delay = min(self._LONGEST_S, 2.0 ** min(doublings, 20)) if doublings >= 0 else 0.0
            self._failures[network] = (n_failures, now + delay)
            while len(self._failures) > self._size:
                self._failures.popitem(last=False)

    def note_success(self, address: str) -> None:
        """Forget the wrong passwords of an address."""
        with self._lock:
            self._failures.pop(_network(address), None)


def _network(address: str) -> str:
    """Name the network that one person can speak from: an IPv6 user owns 2**64 addresses."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def is_loopback(host: str) -> bool:
    """True if an address to bind to is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Decides for one server who may ask, and remembers who guesses."""

    def __init__(self, access: Access, monotonic: Callable[[], float]) -> None:
        self.access = access
        self._limiter = LoginLimiter(monotonic)

    def find_refusal(
        self, method: str, header: Callable[[str], str | None], address: str = ""
    ) -> Refusal | None:
        """Decide why a request is refused; None where it may pass.

        Args:
            method: HTTP method, upper case.
            header: Looks up a request header by its name; None where it is missing.
            address: IP address that the request came from.
        """
        return _refuse_site(self.access, method, header) or self._refuse_person(header, address)

    def has_session(self, header: Callable[[str], str | None]) -> bool:
        """True if a request carries the cookie of this start of the server."""
        given = _cookie(header("Cookie"), self.access.cookie)
        return bool(self.access.session) and _is_same(given, self.access.session)

    def _refuse_person(self, header: Callable[[str], str | None], address: str) -> Refusal | None:
        access = self.access
        if self.has_session(header) or (access.password is None and access.token is None):
            return None
        if access.password is None:
            return Refusal(HTTPStatus.UNAUTHORIZED, LINK_NEEDED)
        given = _read_password(header("Authorization"))
        if given is None:
            return Refusal(HTTPStatus.UNAUTHORIZED, "Enter the password.")
        if (wait_s := self._limiter.wait_s(address)) > 0:
            seconds = int(wait_s) + 1
            message = f"Too many attempts. Retry in {seconds} s."
            return Refusal(HTTPStatus.TOO_MANY_REQUESTS, message, seconds)
        if not hmac.compare_digest(given, access.password.encode()):
            self._limiter.note_failure(address)
            return Refusal(HTTPStatus.UNAUTHORIZED, "Wrong password.")
        self._limiter.note_success(address)
        return None


LINK_NEEDED = "Open the printed link: it ends with ?token=..."


def _refuse_site(
    access: Access, method: str, header: Callable[[str], str | None]
) -> Refusal | None:
    """Decide whether another site asks through the user's browser."""
    host = header("Host") or ""
    if access.is_local and not _is_own_name(access, host):
        return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "Host name not allowed.")
    origin = header("Origin")
    is_foreign = origin is not None and not _is_own_origin(access, origin, host)
    if is_foreign or (method not in _READING and header("Sec-Fetch-Site") in _OTHER_SITES):
        return Refusal(HTTPStatus.FORBIDDEN, "Other sites are refused.")
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
    """True if a page of the dashboard's own sent a request.

    On a loopback address nothing stands between browser and dashboard, so a page that came by TLS
    came from another server. On any other address a proxy may add TLS, of which nothing is seen
    here: both schemes pass. A page of the one that posts to the other is then still told from ours
    by `Sec-Fetch-Site`, which browsers send to addresses with TLS, and which heeds the scheme.
    """
    schemes = ("http",) if access.is_local else ("http", "https")
    return origin in {f"{scheme}://{host}" for scheme in schemes}


def _read_password(authorization: str | None) -> bytes | None:
    """Read the password of HTTP basic authentication, whatever the user name; None if missing."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(encoded.encode("ascii"), validate=True).partition(b":")[2]
    except (binascii.Error, UnicodeEncodeError):
        return None


def _cookie(header: str | None, name: str) -> str:
    pairs = (part.strip().partition("=") for part in (header or "").split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _is_same(given: str, expected: str) -> bool:
    """Compare in constant time; any text may be given."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


_PARTS = ("inputs", "state")


_MAX_DEPTH = 100


def callback_fault(body: object, callbacks: Mapping[str, Any]) -> str:
    """Say why a body is not one that a page of ours sends; empty where it may be.

    Callbacks that are not known pass: the answer to them tells an old tab to reload.

    Args:
        body: The request's JSON, parsed; None where it is not JSON.
        callbacks: Output to callback, as in `Dash.callback_map`.
    """
    if not isinstance(body, dict) or not isinstance(body.get("output"), str):
        return "The request does not name a callback."
    if _is_deep(body):
        return "The request is nested too deeply."
    callback = callbacks.get(body["output"])
    if callback is None:
        return ""
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        return "`changedPropIds` must be a list of texts."
    if any("." not in name for name in changed):
        return "`changedPropIds` must name properties."
    faults = (_part_fault(part, body.get(part, []), callback[part]) for part in _PARTS)
    fault = next((fault for fault in faults if fault), "")
    return fault or _outputs_fault(body["output"], body.get("outputs"))


def _part_fault(part: str, given: object, expected: list[Mapping[str, Any]]) -> str:
    """Compare inputs or states with those that the callback was registered with."""
    if not isinstance(given, list) or len(given) != len(expected):
        return f"`{part}` must hold {write_count(len(expected), 'entry')}."
    for entry, wanted in zip(given, expected, strict=True):
        is_group = str(wanted["id"]).startswith("{")
        entries = entry if is_group and isinstance(entry, list) else [entry]
        if not all(_is_property(one, wanted["property"]) for one in entries):
            return f"An entry of `{part}` does not name `{wanted['property']}` of an element."
        if not is_group and entry["id"] != wanted["id"]:
            return f"An entry of `{part}` is not `{wanted['id']}`."
    return ""


def _is_property(entry: object, name: str) -> bool:
    return isinstance(entry, dict) and entry.get("property") == name and _is_id(entry.get("id"))


def _is_id(given: object) -> bool:
    return isinstance(given, str) or (
        isinstance(given, dict)
        and all(isinstance(value, str | int | float | bool) for value in given.values())
    )


def _outputs_fault(output: str, given: object) -> str:
    """Compare the outputs with their names, `..a.children...b.data@1f..` where there are several.

    What follows `@` tells callbacks apart that write the same property.
    """
    if output.startswith(".."):
        names, entries = output.strip(".").split("..."), given
    else:
        names, entries = [output], [given]
    is_right = (
        isinstance(entries, list)
        and len(entries) == len(names)
        and all(_is_output(name, entry) for name, entry in zip(names, entries, strict=True))
    )
    return "" if is_right else "`outputs` must name the callback's own."


def _is_output(name: str, entry: object) -> bool:
    element, wanted = name.rsplit(".", 1)
    is_group = element.startswith("{")
    for one in entry if is_group and isinstance(entry, list) else [entry]:
        if not isinstance(one, dict) or not _is_id(one.get("id")):
            return False
        if not is_group and one["id"] != element:
            return False
        if str(one.get("property")).partition("@")[0] != wanted.partition("@")[0]:
            return False
    return True


def _is_deep(body: object) -> bool:
    """True if lists and mappings stand in each other beyond any depth that a page needs."""
    level: list[object] = [body]
    for _ in range(_MAX_DEPTH):
        inner: list[object] = []
        for one in level:
            inner += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if not inner:
            return False
        level = inner
    return True
