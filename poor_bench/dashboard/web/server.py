"""Serve the dashboard: one process, many threads, connections that cannot be held open."""

from __future__ import annotations

import gc
import hmac
import logging
import os
import secrets
import select
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer, create_server
from waitress.utilities import Error

from poor_bench.dashboard.web.access import Access, Guard, is_loopback
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import write_count
from poor_bench.processes import keep_little_memory
from poor_bench.runs.journal import list_left_over, read_header
from poor_bench.statistics.summary import GroupBy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flask import Flask

    from poor_bench.dashboard.services.services import Services
    from poor_bench.dashboard.web.access import Refusal


PASSWORD_VARIABLE = "POOR_BENCH_PASSWORD"  # noqa: S105 - a name, not a password
TOKEN_VARIABLE = "POOR_BENCH_TOKEN"  # noqa: S105 - a name, not a token
_SHORTEST_SECRET = 12
_UNNOTICED_S, _PATIENCE_S, _LATER_S = 1.0, 20.0, 3.0
_SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes keeps those waiting that only pass something on."""


def serve(
    data_dir: Path,
    host: str,
    port: int,
    say: Callable[[str], None],
    open_link: Callable[[str], None] | None = None,
) -> int:
    """Serve until interrupted.

    Args:
        data_dir: The workspace folder.
        host: Address to bind to.
        port: TCP port.
        say: Shows a line to whoever started the server.
        open_link: Opens the link in a browser; None where nobody wants that.

    Returns:
        Exit code.

    Raises:
        ConfigError: If the address needs a password that is not set, or cannot be used.
    """
    keep_little_memory()
    access = access_rules(
        host, port, os.environ.get(PASSWORD_VARIABLE), os.environ.get(TOKEN_VARIABLE)
    )
    from poor_bench.results.store import without_collector

    with without_collector():
        server, services = _open(data_dir, access)
        tell_interrupted(services, say)
        _read_ahead(services, say)
    gc.freeze()  # what is there by now stays: it need not be looked through again and again
    _start(_prepare_for_later, services)
    _greet(access, data_dir, say)
    _quieten_waitress()
    if open_link is not None:
        open_link(build_link(access))
    server.run()
    return 0


def _open(data_dir: Path, access: Access) -> tuple[Any, Services]:
    """Put the application together and bind its address; scripts and styles follow in a thread."""
    from poor_bench.dashboard.app import create_app
    from poor_bench.dashboard.services.services import Services
    from poor_bench.workspace_folder import WorkspaceFolder

    guard = Guard(access, time.monotonic)
    services = Services(lambda: WorkspaceFolder(data_dir))
    app = create_app(services, guard)
    try:
        server = open_server(app.server, guard)
    except OSError as error:
        raise ConfigError(
            f"{access.host}:{access.port} cannot be used: {error.strerror}",
            hint="Choose another port with --port.",
        ) from error
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    threading.Thread(target=app.prepare, daemon=True).start()
    return server, services


def access_rules(host: str, port: int, password: str | None, token: str | None = None) -> Access:
    """Choose who may ask a server: holders of the password, else of the token of the link.

    Args:
        host: Address to bind to.
        port: TCP port.
        password: From the environment; None or empty for none.
        token: From the environment, so that a link can be kept; None or empty for a new one.

    Raises:
        ConfigError: If others than this machine can connect and no password is set, or a secret
            is so short that it can be guessed.
    """
    if not is_loopback(host) and not password:
        raise ConfigError(
            f"--host {host} lets others connect, so the dashboard needs a password",
            hint=f"Set the environment variable {PASSWORD_VARIABLE}, or omit --host.",
        )
    _require_length(PASSWORD_VARIABLE, password)
    _require_length(TOKEN_VARIABLE, token)
    secret = None if password else token or secrets.token_urlsafe(24)
    return Access(
        host=host,
        port=port,
        password=password or None,
        token=secret,
        session=_make_session(None if password else token),
    )


def _make_session(kept_token: str | None) -> str:
    """Make what the cookie holds: new with each start, unless the token is kept, too.

    Open pages then go on after a restart, as a holder of the token could enter again anyway.
    """
    if not kept_token:
        return secrets.token_urlsafe(24)
    return hmac.digest(kept_token.encode(), b"session of the dashboard", "sha256").hex()


def _require_length(variable: str, secret: str | None) -> None:
    if secret and len(secret) < _SHORTEST_SECRET:
        raise ConfigError(
            f"{variable} is too short: {write_count(len(secret), 'character')}",
            hint=f"Use at least {_SHORTEST_SECRET}.",
        )


def _greet(access: Access, data_dir: Path, say: Callable[[str], None]) -> None:
    say(f"Dashboard of {data_dir}: {build_link(access)}  (Ctrl-C ends it)")
    if not access.is_local:
        say(
            "Warning: passwords and results travel unencrypted. "
            "Put a proxy with TLS in front of it in any network that you do not trust."
        )


def tell_interrupted(services: Services, say: Callable[[str], None]) -> None:
    """Tell which runs a killed process has left unfinished."""
    with suppress(PoorBenchError, OSError):  # the page shows it
        for path in list_left_over(services.files.config().store.paths.journals()):
            n_items = read_header(path).get("n_items")
            of_all = f" of {n_items:,} trials" if isinstance(n_items, int) else ""
            say(
                f"Run {path.stem}{of_all} was interrupted. What was finished is kept; "
                "continue on the page Run."
            )


def build_link(access: Access) -> str:
    """Build the link that opens the dashboard in a browser, with its token where it has one."""
    name = f"[{access.host}]" if ":" in access.host else access.host
    return f"http://{name}:{access.port}" + (f"/?token={access.token}" if access.token else "")


def _read_ahead(services: Services, say: Callable[[str], None]) -> None:
    """Read the results before the first browser asks, and for a while keep it waiting for them.

    A page that is drawn meanwhile takes longer than both one after the other.
    """
    reading = _start(_read, services)
    reading.join(_UNNOTICED_S)
    if reading.is_alive():
        say("Reading the results ...")
        reading.join(_PATIENCE_S)


def _read(services: Services) -> None:
    with suppress(PoorBenchError):  # the page shows it
        services.results.summaries(GroupBy.LLM)
        services.results.ranking()


def _prepare_for_later(services: Services) -> None:
    """Do what no page waits for, unless it is asked for earlier."""
    from poor_bench.dashboard.figures.scores import score_bars_figure
    from poor_bench.extraction.refusal_rules import load_refusal_phrases
    from poor_bench.results.connections import connect

    time.sleep(_LATER_S)  # a page that opens meanwhile is not held up
    connect()  # DuckDB, for the first page that reads texts
    with suppress(PoorBenchError):  # the page shows it
        services.results.summaries(GroupBy.LLM_CLASS)
        services.requests.give_way()
        _ = services.files.config().issue_context  # of whatever page looks at issues first
    score_bars_figure([], [])
    services.requests.give_way()
    load_refusal_phrases()  # a third of a second for whoever looks at issues first


def _start(action: Callable[[Services], None], services: Services) -> threading.Thread:
    thread = threading.Thread(target=action, args=(services,), daemon=True)
    thread.start()
    return thread


def _quieten_waitress() -> None:
    """Leave out the warnings of a queue that is a moment long."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)


THREADS = 16
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
MAX_CONNECTIONS = 256
"""Beyond it, the connection that has waited longest in the middle of a request is closed."""
HEADER_S, BODY_S, IDLE_S = 10.0, 60.0, 30.0


def open_server(app: Flask, guard: Guard) -> Any:
    """Bind to the address of `guard.access`; `run` of the answer serves until interrupted.

    Raises:
        OSError: If the address cannot be used.
    """
    access = guard.access
    dispatchers: dict[int, Any] = {}
    server = create_server(
        app,
        map=dispatchers,
        host=access.host,
        port=access.port,
        threads=THREADS,
        ident=None,
        max_request_body_size=MAX_BODY_BYTES,
        max_request_header_size=MAX_HEADER_BYTES,
        connection_limit=2 * MAX_CONNECTIONS,
        channel_timeout=IDLE_S,
        cleanup_interval=5,
        asyncore_use_poll=hasattr(select, "poll"),
    )
    guarded = type("GuardedChannel", (BoundedChannel,), {"guard": guard})
    for dispatcher in list(dispatchers.values()):
        if isinstance(dispatcher, TcpWSGIServer):  # several where a name has several addresses
            dispatcher.channel_class = guarded
    return server


class _RefusedError(Error):
    """The answer to a request that is refused before its body is read."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.code, self.reason = refusal.status.value, refusal.status.phrase


class BoundedChannel(HTTPChannel):
    """One connection; a request of it has to be complete within a time."""

    guard: Guard
    parser_class: Any
    server: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._began: float | None = time.monotonic()
        super().__init__(*arguments, **named)
        self.parser_class = self._parser
        _drop_the_slowest(self.server.active_channels.values())

    @property
    def waits_since(self) -> float | None:
        """When the request began that is not complete yet, by the monotonic clock; else None."""
        return None if self.requests else self._began

    def _parser(self, adj: Any) -> BoundedParser:
        return BoundedParser(adj, self.guard, self.addr[0])

    def received(self, data: bytes) -> bool:
        """Note when an incomplete request began."""
        if self.request is None:
            self._began = time.monotonic()
        is_taken: bool = super().received(data)
        if self.request is None:
            self._began = None
        return is_taken

    def readable(self) -> bool:
        """Close the connection if its request takes too long; asked about once a second."""
        if (since := self.waits_since) is not None:
            is_body = self.request is not None and self.request.headers_finished
            if time.monotonic() - since > (BODY_S if is_body else HEADER_S):
                self.will_close = True
        return bool(super().readable())


def _drop_the_slowest(channels: Any) -> None:
    """Close the longest incomplete request, so that no crowd of them keeps others out."""
    if len(channels) <= MAX_CONNECTIONS:
        return
    waiting = [c for c in channels if c.waits_since is not None and not c.will_close]
    if waiting:
        min(waiting, key=lambda channel: channel.waits_since).will_close = True


class BoundedParser(HTTPRequestParser):
    """Refuses a request with a body as soon as its headers are there, before anything is kept."""

    command: Any
    """Text, though the stubs of waitress say bytes."""

    def __init__(self, adj: Any, guard: Guard, address: str) -> None:
        super().__init__(adj)
        self._guard, self._address = guard, address
        self._is_checked = False

    def received(self, data: bytes) -> int:
        """Take bytes of the request; return how many."""
        n_taken: int = super().received(data)
        if self.headers_finished and not self._is_checked:
            self._is_checked = True
            if not self.completed:
                self._check()
        if self.error is not None:
            self.expect_continue = False  # or waitress asks for the body all the same
        return n_taken

    def _check(self) -> None:
        refusal = self._guard.find_refusal(self.command, self._header, self._address)
        if refusal is not None:
            self.error, self.completed = _RefusedError(refusal), True

    def _header(self, name: str) -> str | None:
        value: str | None = self.headers.get(name.upper().replace("-", "_"))
        return value
