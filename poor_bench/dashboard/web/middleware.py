"""Puts access rules, headers around every request of a Flask server."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from poor_bench.dashboard.web.access import Access, refusal_of
from poor_bench.dashboard.web.headers import (
    cache_control,
    content_security_policy,
    security_headers,
)
from poor_bench.dashboard.web.old_tab import asks_for_old_handler, reload_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Flask, Response

_LOG = logging.getLogger(__name__)


def protect(server: Flask, access: Access, script_hashes: Sequence[str]) -> None:
    """Refuse what may not pass, and give every response its headers.

    Args:
        server: The server of a Dash application whose callbacks are all registered.
        access: Who may ask.
        script_hashes: Hashes of the inline scripts of the page.
    """
    from dash.exceptions import DependencyException
    from flask import Response, request

    headers = security_headers(content_security_policy(script_hashes))

    def refuse() -> Response | None:
        refusal = refusal_of(access, request.method, request.headers.get)
        if refusal is None:
            return None
        response = Response(refusal.message, refusal.status, mimetype="text/plain")
        if refusal.status == 401:
            response.headers["WWW-Authenticate"] = 'Basic realm="poor_bench", charset="UTF-8"'
        return response

    def add_headers(response: Response) -> Response:
        response.headers.update(headers)
        response.headers["Cache-Control"] = cache_control(
            request.path, is_found=response.status_code < 400, has_version="m" in request.args
        )
        return response

    def hide(error: Exception) -> Response:
        _LOG.error("a request failed", exc_info=error)
        return Response("The dashboard could not answer; its log says why.", 500)

    def answer_old_tab(error: Exception) -> Response:
        return reload_answer() if asks_for_old_handler(error) else hide(error)

    def miss(_error: Exception) -> Response:
        return Response("There is no such script.", HTTPStatus.NOT_FOUND, mimetype="text/plain")

    server.before_request(refuse)
    server.after_request(add_headers)
    server.register_error_handler(DependencyException, miss)
    server.register_error_handler(KeyError, answer_old_tab)
    server.register_error_handler(500, hide)
