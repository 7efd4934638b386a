"""Put the application together."""

from __future__ import annotations

import hashlib
import logging
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from flask import Flask, Response

from poor_bench.dashboard.page import show_error
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services
    from poor_bench.dashboard.web.access import Access, Guard
    from poor_bench.dashboard.web.bundle import BundledDash


_LOG = logging.getLogger(__name__)
_INDEX = Path(__file__).parent / "index.html"
_ASSETS = Path(__file__).parent / "assets"


def create_app(services: Services, access: Access | Guard) -> BundledDash:
    """Create the application over one workspace; nothing of it is global.

    Args:
        services: What pages may ask.
        access: Who may ask the dashboard; a guard where the server asks it, too.
    """
    import_module("numpy")  # complete before any thread draws: plotly looks at it half-imported

    from poor_bench.dashboard.pages.registry import PAGES, page_at
    from poor_bench.dashboard.pages.suites.replay import serve_screenshots
    from poor_bench.dashboard.result_panel.addresses import serve_texts
    from poor_bench.dashboard.result_panel.rating_bar import register_rating_bar
    from poor_bench.dashboard.shell import register_clock, register_pages, shell
    from poor_bench.dashboard.web.access import Guard
    from poor_bench.dashboard.web.bundle import BundledDash
    from poor_bench.dashboard.web.first_answers import serve_first_answers
    from poor_bench.dashboard.web.first_paint import write_first_paint
    from poor_bench.dashboard.web.middleware import compress, protect

    app = BundledDash(
        _ASSETS,
        name=__name__,
        title="poor_bench",
        update_title="",
        index_string=_INDEX.read_text(encoding="utf-8"),
        on_error=lambda error: _report(services, error),
        add_log_handler=False,
        # Else each document holds the layout of all pages, and a page that is left before an answer
        # to its button comes is an error: tests look for ids and properties that do not exist.
        suppress_callback_exceptions=True,
    )
    app.write_first_paint = write_paint = partial(write_first_paint, services, PAGES)
    app.layout = shell(PAGES, _name_workspace(services))
    register_pages(app, services)
    register_clock(app, services)
    register_rating_bar(app, services)
    for page in PAGES:
        page.register(app, services)
    serve_texts(app.server, services.panel)
    serve_screenshots(app.server, services.suites)
    serve_alive(app.server)
    app.server.before_request(services.requests.begin)
    app.server.teardown_request(lambda _: services.requests.end())
    serve_first_answers(app, page_at, partial(write_paint, has_shell=False))
    protect(app, access if isinstance(access, Guard) else Guard(access, time.monotonic))
    compress(app.server)
    return app


def _name_workspace(services: Services) -> str:
    """Write a short name of the workspace that does not tell where it is."""
    folder = str(services.files.config().data_dir.resolve())
    return hashlib.sha256(folder.encode()).hexdigest()[:12]


def _report(services: Services, error: Exception) -> None:
    """Tell the user what went wrong in a callback, unless the shell shows it already."""
    text = tell_about(services, error)
    if text:
        show_error(text)


def tell_about(services: Services, error: Exception) -> str:
    """Write the message about an error; empty if the shell shows it already.

    Only errors of ours say more than that there was one.
    """
    if isinstance(error, PoorBenchError):
        is_shown = str(services.problem()) == str(error)
        return "" if is_shown else error_text(error)
    number = uuid4().hex[:8]
    _LOG.error("a callback failed (%s)", number, exc_info=error)
    return f"Internal error {number}: see the log."


ALIVE_PATH = "/_alive"
"""`assets/connection.js` asks it."""


def serve_alive(server: Flask) -> None:
    """Answer with a text that is another one after each start of the server."""
    start = uuid4().hex

    @server.get(ALIVE_PATH)
    def _alive() -> Response:
        return Response(start, mimetype="text/plain")
