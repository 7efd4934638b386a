"""Serve a suite's own application on a free loopback port, fresh for every trial.

A factory with a parameter `environ` receives the environment variables that cases type into the
application as credentials. Unset ones get a random value in every run, so that a suite with a
server of its own needs no secret from outside.
"""

from __future__ import annotations

import inspect
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from poor_bench.errors import AgentError, ConfigError, PoorBenchError, describe_crash
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.models import SERVER, EvalSuite
from poor_bench.models.failure import FailureKind

_HOST = "127.0.0.1"
_POLL_S = 0.05
"""Longest delay at the end of a server."""


def made_up_credentials(suite: EvalSuite, environ: Mapping[str, str]) -> dict[str, str]:
    """Random values for the credentials of the suite's own server that `environ` does not set."""
    names = {
        name
        for case in suite.cases
        for name, origin in (case.credentials or {}).items()
        if origin.rstrip("/") == SERVER and not environ.get(name)
    }
    return {name: secrets.token_urlsafe(12) for name in sorted(names)}


@contextmanager
def serving(written: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the address of a new application, such as `http://127.0.0.1:40123`.

    Args:
        written: `package.module:factory`, which returns a WSGI application.
        environ: Passed to the factory if it has a parameter of that name.

    Raises:
        ConfigError: If the factory does not exist, or fails.
        MissingExtraError: If the application needs a package that is not installed.
        AgentError: If no port can be opened.
    """
    application = _create(written, environ)
    server = _open(application)
    serve = partial(server.serve_forever, poll_interval=_POLL_S)
    thread = threading.Thread(target=serve, name="suite-server", daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _create(written: str, environ: Mapping[str, str]) -> Any:
    factory = import_factory(written)
    try:
        takes_environ = "environ" in inspect.signature(factory).parameters
        application = factory(environ=environ) if takes_environ else factory()
    except PoorBenchError:
        raise
    except Exception as error:
        reason = describe_crash(error)
        raise ConfigError(f"the factory of the server `{written}` raised {reason}") from error
    if not callable(application):
        raise ConfigError(f"the server `{written}` is not a WSGI application")
    return application


def _open(application: Any) -> Any:
    from werkzeug.serving import WSGIRequestHandler, make_server

    class QuietHandler(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as overridden
            """Log nothing: the steps of the trial tell what was served."""

    try:
        return make_server(_HOST, 0, application, threaded=True, request_handler=QuietHandler)
    except (OSError, SystemExit) as error:
        message = f"the suite's server cannot open a port: {error}"
        raise AgentError(message, kind=FailureKind.AGENT) from error
