"""From a refusal or a broken connection to a ProviderError that says what to do."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http.client import BadStatusLine, RemoteDisconnected

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.api_keys import hide_keys
from poor_bench.providers.classify import kind_of
from poor_bench.providers.error_reply import ErrorReply, one_line
from poor_bench.providers.retry_after import retry_after_s
from poor_bench.providers.transport.server import TransportError

_TLS_HINT = "SSL_CERT_FILE may name the certificates of a company's own authority"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whom a request went to, for messages and ways out."""

    server: str
    """Host and port."""
    model: str
    start_hint: str = ""
    """How to start the server, where that is the user's business."""
    model_hint: str = ""
    """How to get the model."""
    key_variable: str | None = None


def refusal_to_error(
    error: ErrorReply, headers: Mapping[str, str], asked: Asked, key: str | None, now: datetime
) -> ProviderError:
    """Return the error for a refusal; the key, should the server echo it, is left out."""
    kind = kind_of(error)
    said = hide_keys(error.message, key) or "no reason given"
    if error.is_web_page:
        said = f"a web page, {said!r}: a proxy or another kind of server answered"
    status = f"HTTP {error.status}" if error.status else "an error"
    location = headers.get("location")
    if location and error.status and error.status < 400:
        said = f"it redirects to {one_line(hide_keys(_without_query(location), key))}"
    return ProviderError(
        f"{asked.server} answered {status}: {said}",
        kind=kind,
        status=error.status,
        retry_after_s=retry_after_s(headers, error.message, now),
        hint=_way_out(kind, error, asked),
    )


def _without_query(location: str) -> str:
    """Return an address without what may hold a secret: user, query and fragment."""
    address = re.split(r"[?#]", location, maxsplit=1)[0]
    return re.sub(r"//[^/@]{0,1000}@", "//", address)


def transport_to_error(error: TransportError, asked: Asked) -> ProviderError:
    """Return the error for a request that failed on its way."""
    from urllib3.exceptions import ProxyError

    cause: BaseException = error.cause
    server = asked.server
    if isinstance(cause, ProxyError) and cause.original_error is not None:
        cause, server = cause.original_error, f"the proxy on the way to {server}"
    root = _root(cause)
    kind, what, hint = _described(cause, root, error.replied)
    return ProviderError(f"{server} {what}", kind=kind, hint=hint or asked.start_hint)


def _described(
    cause: BaseException, root: BaseException, replied: bool
) -> tuple[FailureKind, str, str]:
    from urllib3 import exceptions as http

    refused = isinstance(cause, http.NewConnectionError)
    connecting = isinstance(cause, http.ConnectTimeoutError) and not refused
    silent = isinstance(cause, http.ReadTimeoutError) or isinstance(root, TimeoutError)
    insecure = isinstance(cause, http.SSLError) or isinstance(root, ssl.SSLError)
    no_http = isinstance(root, BadStatusLine) and not isinstance(root, RemoteDisconnected)
    closed = isinstance(root, RemoteDisconnected | http.ProtocolError)
    unnamed = "it closed the connection" if closed else type(root).__name__
    reason = str(getattr(root, "strerror", None) or unnamed).lower()
    first_that_fits = (
        (connecting, FailureKind.TIMEOUT, "did not accept the connection in time", ""),
        (silent, FailureKind.TIMEOUT, "fell silent", ""),
        (insecure, FailureKind.CONNECTION, f"cannot be trusted: {_tls_fault(root)}", _TLS_HINT),
        (
            isinstance(root, socket.gaierror),
            FailureKind.CONNECTION,
            "cannot be found: unknown host name",
            "",
        ),
        (no_http, FailureKind.MALFORMED_REPLY, "does not speak HTTP", ""),
        (replied, FailureKind.SERVER_ERROR, "stopped in the middle of its reply", ""),
        (True, FailureKind.CONNECTION, f"cannot be reached: {reason}", ""),
    )
    return next(found[1:] for found in first_that_fits if found[0])


def _tls_fault(root: BaseException) -> str:
    fault = getattr(root, "verify_message", "") or getattr(root, "reason", "") or "TLS failed"
    return str(fault).replace("_", " ").lower()


def _root(error: BaseException) -> BaseException:
    """Return the exception at the bottom: a library wraps what the system said several times."""
    while True:
        inner = error.__cause__ or next(
            (item for item in error.args if isinstance(item, BaseException)), None
        )
        if inner is None or inner is error:
            return error
        error = inner


def _way_out(kind: FailureKind, error: ErrorReply, asked: Asked) -> str:
    match kind:
        case FailureKind.AUTH:
            return _way_in(error, asked)
        case FailureKind.MODEL_NOT_FOUND:
            names_model = "model" in error.message.lower()
            return asked.model_hint if names_model else "check the path of the endpoint"
        case FailureKind.CONTEXT_OVERFLOW:
            return "shorten the prompt or give the model a larger context (num_ctx)"
        case FailureKind.BAD_REQUEST if error.status and error.status < 400:
            return "put that address into `endpoint`"
        case _:
            return ""


def _way_in(error: ErrorReply, asked: Asked) -> str:
    if error.status == 407:
        return "the proxy needs a user name and password: http://user:password@proxy:port"
    if asked.key_variable:
        return f"check the key in the environment variable {asked.key_variable}"
    return "name the environment variable of the key in `api_key_env`"
