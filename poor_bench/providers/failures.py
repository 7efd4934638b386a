"""Classify refusals and broken connections: the one place that names a kind of failure; pure."""

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
from poor_bench.providers.error_reply import ErrorReply, join_lines, retry_after_s
from poor_bench.providers.transport.server import TransportError

_TEMPORARY = frozenset({429, *range(500, 600)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Fits an error that has one of the statuses or codes, or whose text matches."""

    kind: FailureKind
    statuses: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    text: re.Pattern[str] | None = None
    temporary_too: bool = True
    """True if `text` counts in replies 429 and 5xx, which speak of the moment."""

    def fits(self, error: ErrorReply) -> bool:
        return (
            error.status in self.statuses
            or bool(self.codes & error.codes)
            or (self._reads(error) and self._matches(error.message))
        )

    def _reads(self, error: ErrorReply) -> bool:
        return self.temporary_too or error.status is None or error.status not in _TEMPORARY

    def _matches(self, message: str) -> bool:
        return self.text is not None and self.text.search(message) is not None


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_RULES = (
    _Rule(
        kind=FailureKind.QUOTA,
        statuses=frozenset({402}),
        codes=frozenset(
            {
                "insufficient_quota",
                "billing_error",
                "billing_hard_limit_reached",
                "billing_not_active",
                "credit_balance_exhausted",
                "enforced_spend_limit_reached",
            }
        ),
        text=_text(
            r"credit balance|insufficient (balance|credits?|quota|funds)"
            r"|specified (workspace )?API usage limits|spend(ing)? limit|billing hard limit"
        ),
    ),
    _Rule(
        kind=FailureKind.CONTEXT_OVERFLOW,
        statuses=frozenset({413}),
        codes=frozenset(
            {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
        ),
        text=_text(
            r"context[ _]?(length|size|window|limit)|(prompt|input) is too (long|large)"
            r"|too many (input |prompt )?tokens|maximum (input|prompt) length"
        ),
    ),
    _Rule(
        kind=FailureKind.MODEL_NOT_FOUND,
        codes=frozenset({"model_not_found", "model_not_available", "make_unknown_model_error"}),
        text=_text(
            r"\bmodel\b.{0,120}(not found|does not exist|not exist|is not available|try pulling)"
            r"|not a valid model|no such model|unknown model|invalid model( name)?\b"
            r"|no (endpoints|providers?) .{0,40}(found|available)"
        ),
        temporary_too=False,
    ),
    _Rule(kind=FailureKind.BAD_REQUEST, text=_text(r"\bflagged\b|moderation")),
    _Rule(
        kind=FailureKind.AUTH,
        statuses=frozenset({401, 403, 407}),
        codes=frozenset(
            {"invalid_api_key", "authentication_error", "permission_error", "unauthorized"}
        ),
        text=_text(r"(invalid|incorrect|missing|no|bad) api[ _-]?key|api[ _-]?key (is )?not valid"),
    ),
    _Rule(
        kind=FailureKind.RATE_LIMITED,
        statuses=frozenset({429}),
        codes=frozenset(
            {
                "rate_limit_exceeded",
                "rate_limit_error",
                "too_many_requests",
                "token_limit_exceeded",
            }
        ),
        text=_text(r"maximum pending requests|rate limit(ed)? (reached|exceeded)"),
    ),
    _Rule(kind=FailureKind.BAD_REQUEST, text=_text(r"requires more system memory")),
    _Rule(kind=FailureKind.TIMEOUT, statuses=frozenset({408})),
    _Rule(
        kind=FailureKind.SERVER_ERROR,
        statuses=frozenset({409, 425, *range(500, 600)}),
        codes=frozenset({"overloaded_error", "api_error", "server_error", "timeout_error"}),
    ),
    _Rule(kind=FailureKind.MODEL_NOT_FOUND, statuses=frozenset({404, 405, 410})),
    _Rule(
        kind=FailureKind.BAD_REQUEST,
        statuses=frozenset(range(300, 500)),
        codes=frozenset({"invalid_request_error"}),  # in a batch, no status stands beside it
    ),
)


def classify(error: ErrorReply) -> FailureKind:
    """Name the kind of failure that a refusal is; the first rule that fits decides.

    Source:
        The error pages of OpenAI, Anthropic, OpenRouter, Ollama and llama.cpp; `tests` hold an
        example of each.
    """
    for rule in _RULES:
        if rule.fits(error):
            return rule.kind
    return FailureKind.SERVER_ERROR


_TLS_HINT = "SSL_CERT_FILE may name the certificates of a company's own authority"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whom a request went to, for messages and ways out."""

    server: str
    """Host and port."""
    start_hint: str = ""
    """How to start the server, where that is the user's business."""
    model_hint: str = ""
    """How to get the model."""
    key_variable: str | None = None


def make_refusal_error(
    error: ErrorReply, headers: Mapping[str, str], asked: Asked, key: str | None, now: datetime
) -> ProviderError:
    """Make the error for a refusal; the key, should the server echo it, is left out."""
    kind = classify(error)
    said = hide_keys(error.message, key) or "no reason given"
    if error.is_web_page:
        said = f"a web page, {said!r}: a proxy or another kind of server answered"
    status = f"HTTP {error.status}" if error.status else "an error"
    location = headers.get("location")
    if location and error.status and error.status < 400:
        said = f"it redirects to {join_lines(hide_keys(_drop_query(location), key))}"
    return ProviderError(
        f"{asked.server} answered {status}: {said}",
        kind=kind,
        status=error.status,
        retry_after_s=retry_after_s(headers, error.message, now),
        hint=_suggest_way_out(kind, error, asked),
    )


def _drop_query(location: str) -> str:
    """Cut what may hold a secret from an address: user, query and fragment."""
    address = re.split(r"[?#]", location, maxsplit=1)[0]
    return re.sub(r"//[^/@]{0,1000}@", "//", address)


def make_transport_error(error: TransportError, asked: Asked) -> ProviderError:
    """Make the error for a request that failed on its way."""
    from urllib3.exceptions import ProxyError

    cause: BaseException = error.cause
    server = asked.server
    if isinstance(cause, ProxyError) and cause.original_error is not None:
        cause, server = cause.original_error, f"the proxy on the way to {server}"
    root = _find_root(cause)
    kind, what, hint = _describe(cause, root, error.replied)
    return ProviderError(f"{server} {what}", kind=kind, hint=hint or asked.start_hint)


def _describe(
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
        (
            insecure,
            FailureKind.CONNECTION,
            f"cannot be trusted: {_find_tls_fault(root)}",
            _TLS_HINT,
        ),
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


def _find_tls_fault(root: BaseException) -> str:
    fault = getattr(root, "verify_message", "") or getattr(root, "reason", "") or "TLS failed"
    return str(fault).replace("_", " ").lower()


def _find_root(error: BaseException) -> BaseException:
    """Find the exception at the bottom: a library wraps what the system said several times."""
    while True:
        inner = error.__cause__ or next(
            (item for item in error.args if isinstance(item, BaseException)), None
        )
        if inner is None or inner is error:
            return error
        error = inner


def _suggest_way_out(kind: FailureKind, error: ErrorReply, asked: Asked) -> str:
    match kind:
        case FailureKind.AUTH:
            return _suggest_way_in(error, asked)
        case FailureKind.MODEL_NOT_FOUND:
            names_model = "model" in error.message.lower()
            return asked.model_hint if names_model else "check the path of the endpoint"
        case FailureKind.CONTEXT_OVERFLOW:
            return "shorten the prompt or give the model a larger context (num_ctx)"
        case FailureKind.BAD_REQUEST if error.status and error.status < 400:
            return "put that address into `endpoint`"
        case _:
            return ""


def _suggest_way_in(error: ErrorReply, asked: Asked) -> str:
    if error.status == 407:
        return "the proxy needs a user name and password: http://user:password@proxy:port"
    if asked.key_variable:
        return f"check the key in the environment variable {asked.key_variable}"
    return "name the environment variable of the key in `api_key_env`"
