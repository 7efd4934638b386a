"""Import what a suite names as `package.module:function`, and serve its own application.

The server listens on a free loopback port, fresh for every trial. A factory with a parameter
`environ` receives the environment variables that cases type into the application as credentials.
Unset ones get a random value in every run, so that a suite with a server of its own needs no secret
from outside.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from poor_bench.config.names import name_hint
from poor_bench.errors import AgentError, ConfigError, PoorBenchError, describe_crash
from poor_bench.evaluation.models import SERVER, EvalSuite
from poor_bench.models.failure import FailureKind

_WHERE = (
    "modules are searched in the folder where the command starts, then in the installed packages; "
    "`examples` is part of the project folder, not of an installed package"
)


def import_factory(written: str) -> Callable[..., Any]:
    """Import the function that `package.module:function` names.

    Modules are found in the current folder first, as `python -m` finds them, then among the
    installed packages.

    Raises:
        ConfigError: If the module cannot be imported, or does not have the function.
    """
    module_name, _, name = written.partition(":")
    _search_current_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, module_name):
            raise _make_unknown_module_error(module_name, str(error.name)) from None
        reason = describe_crash(error)
        raise ConfigError(f"cannot import `{module_name}`: {reason}", hint=_WHERE) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        functions = [each for each, value in vars(module).items() if callable(value)]
        message = f"`{module_name}` does not have a function `{name}`"
        raise ConfigError(message, hint=name_hint(name, functions))
    found: Callable[..., Any] = factory
    return found


def _is_part(missing: str | None, module_name: str) -> bool:
    """True if the written module is missing, and not one that it imports."""
    return bool(missing) and f"{module_name}.".startswith(f"{missing}.")


def _make_unknown_module_error(module_name: str, missing: str) -> ConfigError:
    parent, _, name = missing.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    beside = [each.name for each in pkgutil.iter_modules(path)] if path or not parent else []
    near = name_hint(name, beside)
    message = f"cannot import `{module_name}`: the module `{missing}` does not exist"
    return ConfigError(message, hint="; ".join(filter(None, (near, _WHERE))))


def _search_current_folder() -> None:
    """Put the current folder first on the search path: `python main.py` and scripts do not."""
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()


_HOST = "127.0.0.1"
_POLL_S = 0.05
"""Longest delay at the end of a server."""


def make_up_credentials(suite: EvalSuite, environ: Mapping[str, str]) -> dict[str, str]:
    """Make random values for the credentials of the suite's server that `environ` does not set."""
    names = {
        name
        for case in suite.cases
        for name, origin in (case.credentials or {}).items()
        if origin.rstrip("/") == SERVER and not environ.get(name)
    }
    return {name: secrets.token_urlsafe(12) for name in sorted(names)}


@contextmanager
def serve_application(written: str, environ: Mapping[str, str]) -> Iterator[str]:
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
