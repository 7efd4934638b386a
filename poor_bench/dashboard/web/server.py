"""Serve the dashboard: one process, many threads."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.dashboard.web.access import Access
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.statistics.summary import GroupBy

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

PASSWORD_VARIABLE = "POOR_BENCH_PASSWORD"  # noqa: S105 - a name, not a password
_THREADS = 16


def serve(data_dir: Path, host: str, port: int, say: Callable[[str], None]) -> int:
    """Serve until interrupted.

    Args:
        data_dir: The workspace folder.
        host: Address to bind to.
        port: TCP port.
        say: Shows a line to whoever started the server.

    Returns:
        Exit code.

    Raises:
        ConfigError: If the address needs a password that is not set, or cannot be used.
    """
    access = access_rules(host, port, os.environ.get(PASSWORD_VARIABLE))
    from waitress.server import create_server

    from poor_bench.config_manager import ConfigManager
    from poor_bench.dashboard.app import create_app
    from poor_bench.dashboard.services.services import Services

    services = Services(lambda: ConfigManager(data_dir))
    app = create_app(services, access)
    try:
        server = create_server(app.server, host=host, port=port, threads=_THREADS, ident=None)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {error.strerror}", hint="Choose another one by --port."
        ) from error
    threading.Thread(target=_read_ahead, args=(services,), daemon=True).start()
    _greet(access, data_dir, say)
    _quieten_waitress()
    server.run()
    return 0


def access_rules(host: str, port: int, password: str | None) -> Access:
    """Return who may ask a server.

    Raises:
        ConfigError: If others than this machine can connect and there is no password.
    """
    access = Access(host=host, port=port, password=password or None)
    if not access.is_local and access.password is None:
        raise ConfigError(
            f"--host {host} lets others connect, so the dashboard needs a password",
            hint=f"Set the environment variable {PASSWORD_VARIABLE}, or leave out --host.",
        )
    return access


def _greet(access: Access, data_dir: Path, say: Callable[[str], None]) -> None:
    name = f"[{access.host}]" if ":" in access.host else access.host
    say(f"Dashboard of {data_dir}: http://{name}:{access.port}  (Ctrl-C ends it)")
    if not access.is_local:
        say(
            "Warning: passwords and results travel unencrypted. "
            "Put a proxy with TLS in front of it in any network that you do not trust."
        )


def _read_ahead(services: Services) -> None:
    """Do what takes time once, before the first browser asks; errors show on the page."""
    from contextlib import suppress

    from poor_bench.dashboard.figures.score_bars import score_bars_figure

    with suppress(PoorBenchError):
        services.summaries(GroupBy.LLM)
    score_bars_figure([], [])


def _quieten_waitress() -> None:
    """Leave out the warnings of a queue that is a moment long."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
