"""Answer pages that ask whether the server is still there, and still the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from flask import Response

if TYPE_CHECKING:
    from flask import Flask

ALIVE_PATH = "/_alive"
"""`assets/connection.js` asks it."""


def serve_alive(server: Flask) -> None:
    """Answer with a text that is another one after each start of the server."""
    start = uuid4().hex

    @server.get(ALIVE_PATH)
    def _alive() -> Response:
        return Response(start, mimetype="text/plain")
