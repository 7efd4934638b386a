"""Serve a suite's own application on a free loopback port, fresh for every trial."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poor_bench.errors import AgentError, ConfigError
from poor_bench.evaluation.factories import import_factory
from poor_bench.models.failure import FailureKind

_HOST = "127.0.0.1"


@contextmanager
def serving(written: str) -> Iterator[str]:
    """Yield the address of a new application, such as `http://127.0.0.1:40123`.

    Args:
        written: `package.module:factory`; the factory takes nothing and returns a WSGI
            application.

    Raises:
        ConfigError: If there is no such factory, or it fails.
        AgentError: If no port can be opened.
    """
    application = _create(written)
    server = _open(application)
    thread = threading.Thread(target=server.serve_forever, name="suite-server", daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _create(written: str) -> Any:
    factory = import_factory(written)
    try:
        application = factory()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the server `{written}` cannot be made: {reason}") from error
    if not callable(application):
        raise ConfigError(f"the server `{written}` is not a WSGI application")
    return application


def _open(application: Any) -> Any:
    from werkzeug.serving import WSGIRequestHandler, make_server

    class QuietHandler(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as overridden
            """Say nothing: what is served is told by the steps of the trial."""

    try:
        return make_server(_HOST, 0, application, threaded=True, request_handler=QuietHandler)
    except (OSError, SystemExit) as error:
        message = f"the suite's server finds no free port: {error}"
        raise AgentError(message, kind=FailureKind.AGENT) from error
