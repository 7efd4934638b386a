"""Every request and response: access, checks, headers, compression, answers to old tabs."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import orjson
from flask import Response, request

from poor_bench.dashboard.page import ShellIds, notice
from poor_bench.dashboard.web.access import callback_fault
from poor_bench.dashboard.web.bundle import BUNDLE_PATH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash import Dash
    from flask import Flask, Request

    from poor_bench.dashboard.web.access import Guard, Refusal


_SCRIPTS = "/_dash-component-suites/"
_ICON = "/_favicon.ico"
"""Of Dash; browsers ask for it again at each change of the address, unless they may keep it."""
_YEAR_S = 365 * 24 * 3600


def content_security_policy(script_hashes: Sequence[str]) -> str:
    """Build the policy: everything from this server, no inline script but the hashed ones.

    Inline styles are allowed since Mantine, AG Grid and Plotly set them.

    Args:
        script_hashes: Hashes of the inline scripts as `Dash.csp_hashes` returns them.
    """
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *script_hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def security_headers(policy: str) -> Mapping[str, str]:
    """Build the headers of every response."""
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    }


def cache_control(path: str, *, is_found: bool, has_version: bool) -> str:
    """Write the header that says how long a browser may keep a response.

    Scripts and styles whose address holds their version never change; results do.

    Args:
        path: Path of the request.
        is_found: Whether there was something to send.
        has_version: Whether its query holds the time of the file's last change.
    """
    if not is_found:
        return "no-store"
    if path.startswith((_SCRIPTS, BUNDLE_PATH, _ICON)):
        return f"public, max-age={_YEAR_S}, immutable"
    if path.startswith("/assets/"):
        return f"public, max-age={_YEAR_S}, immutable" if has_version else "no-cache"
    return "no-store"


_UNKNOWN = "Callback function not found"
"""How Dash begins the KeyError about a handler that it does not have."""
_TEXT = "poor_bench was updated."


def asks_for_old_handler(error: Exception) -> bool:
    """True if a request failed since its page is of another version."""
    return isinstance(error, KeyError) and str(error.args[0]).startswith(_UNKNOWN)


def reload_answer() -> Response:
    """Say to reload, in the form that Dash reads; nothing on the page changes."""
    from flask import jsonify

    message = notice("Reload this page", _TEXT, is_error=True) | {"autoClose": False}
    said = {ShellIds.NOTICES.value: {"sendNotifications": [message | {"id": "old-tab"}]}}
    return jsonify({"multi": True, "response": {}, "sideUpdate": said})


_BROTLI_LEVEL = 6
_NOT_KEPT = ""


class _ScriptCache:
    """Keeps compressed scripts; anything else is compressed anew each time."""

    def __init__(self) -> None:
        self._scripts: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._scripts.get(key)

    def set(self, key: str, value: bytes) -> None:
        if not key.endswith(f";{_NOT_KEPT}"):
            self._scripts[key] = value


def compress(server: Flask) -> None:
    """Compress all that a server sends, with what the browser understands of brotli and gzip."""
    from flask_compress import Compress

    server.config.update(
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_ALGORITHM_STREAMING=["br", "gzip"],
        COMPRESS_BR_LEVEL=_BROTLI_LEVEL,
        COMPRESS_CACHE_BACKEND=_ScriptCache,
        COMPRESS_CACHE_KEY=_cache_key,
    )
    Compress(server)


def _cache_key(request: Request) -> str:
    return request.path if request.path.startswith((_SCRIPTS, BUNDLE_PATH)) else _NOT_KEPT


_LOG = logging.getLogger(__name__)
_CALLBACKS = "/_dash-update-component"
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>poor_bench</title></head>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem;
  margin: 18vh auto; padding: 1rem">
<h1 style="font-size: 1.4rem">poor_bench</h1><p>{message}</p></body></html>
"""
"""What a person sees; messages are ours, never parts of a request."""


def protect(app: Dash, guard: Guard) -> None:
    """Refuse what may not pass, and give every response its headers.

    Args:
        app: An application whose callbacks are all registered.
        guard: Decides who may ask.
    """
    from dash.exceptions import DependencyException

    protection = _Protection(app, guard)
    app.server.before_request(protection.refuse)
    app.server.before_request(protection.check_callback)
    app.server.after_request(protection.add_headers)
    app.server.register_error_handler(DependencyException, _miss)
    app.server.register_error_handler(KeyError, _answer_old_tab)
    app.server.register_error_handler(500, _hide)


class _Protection:
    """What happens to every request of one application."""

    def __init__(self, app: Dash, guard: Guard) -> None:
        self._callbacks = app.callback_map
        self._guard, self._access = guard, guard.access
        self._headers = security_headers(content_security_policy(app.csp_hashes()))

    def refuse(self) -> Response | None:
        """Let in whoever has the token, and answer those who may not ask."""
        address = request.remote_addr or ""
        refusal = self._guard.find_refusal(request.method, request.headers.get, address)
        has_token = request.method == "GET" and self._access.is_token(request.args.get("token", ""))
        if has_token and (refusal is None or refusal.status == HTTPStatus.UNAUTHORIZED):
            return self._enter()
        return None if refusal is None else self._refuse(refusal)

    def check_callback(self) -> Response | None:
        """Answer a body that no page of ours sends before Dash stumbles over it."""
        if request.path != _CALLBACKS or request.method != "POST":
            return None
        try:
            # stricter than Dash's parser: refuses lone surrogates, which no answer can hold
            body = orjson.loads(request.get_data())
        except orjson.JSONDecodeError:
            body = None
        fault = callback_fault(body, self._callbacks)
        return _text(fault, HTTPStatus.BAD_REQUEST) if fault else None

    def add_headers(self, response: Response) -> Response:
        """Confine the page, say how long it may be kept, and spare a password its next check."""
        is_found = response.status_code < 400
        response.headers.update(self._headers)
        response.headers["Cache-Control"] = cache_control(
            request.path, is_found=is_found, has_version="m" in request.args
        )
        if self._access.password and is_found and not self._guard.has_session(request.headers.get):
            self._give_session(response)
        return response

    def _enter(self) -> Response:
        """Exchange the token of the printed link for a cookie, so that no address shows it."""
        kept = {key: value for key, value in request.args.items() if key != "token"}
        query = f"?{urlencode(kept)}" if kept else ""
        response = Response(status=HTTPStatus.SEE_OTHER)
        response.headers["Location"] = f"/{request.path.lstrip('/')}{query}"
        self._give_session(response)
        return response

    def _give_session(self, response: Response) -> None:
        access = self._access
        response.set_cookie(access.cookie, access.session, httponly=True, samesite="Lax")

    def _refuse(self, refusal: Refusal) -> Response:
        response = _text(refusal.message, refusal.status)
        if request.accept_mimetypes.accept_html and request.method == "GET":
            response = Response(_PAGE.format(message=refusal.message), refusal.status)
        if refusal.status == HTTPStatus.UNAUTHORIZED and self._access.password:
            response.headers["WWW-Authenticate"] = 'Basic realm="poor_bench", charset="UTF-8"'
        if refusal.retry_after_s:
            response.headers["Retry-After"] = str(refusal.retry_after_s)
        return response


def _text(message: str, status: HTTPStatus) -> Response:
    return Response(message, status, mimetype="text/plain")


def _hide(error: Exception) -> Response:
    _LOG.error("a request failed", exc_info=error)
    text = "Internal error: see the log."
    return _text(text, HTTPStatus.INTERNAL_SERVER_ERROR)


def _answer_old_tab(error: Exception) -> Response:
    return reload_answer() if asks_for_old_handler(error) else _hide(error)


def _miss(_error: Exception) -> Response:
    return _text("Not found", HTTPStatus.NOT_FOUND)
