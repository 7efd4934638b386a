"""Start Chromium for a task, and end it completely afterwards."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.errors import (
    AgentError,
    ConfigError,
    PoorBenchError,
    RunCancelledError,
)
from poor_bench.evaluation.agent import AgentTask, TrialControl
from poor_bench.evaluation.browser.addresses import explain_url_refusal
from poor_bench.evaluation.browser.proxy import FilteringProxy, Network
from poor_bench.evaluation.browser.session import (
    ActionError,
    BrowserSession,
    Credentials,
    shorten_message,
)
from poor_bench.evaluation.browser.watchdog import (
    BrowserProcesses,
    BrowserWatchdog,
    Patience,
    give_to_children,
    make_temporary_folder,
    remove_leftovers,
)
from poor_bench.extras import import_extra
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Clock

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright


VARIABLE = "POOR_BENCH_CHROMIUM"
_HEADLESS_SHELL = "/usr/lib/chromium/chromium-headless-shell"
VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1024, 768
_ACTION_MS = 6_000
_NAVIGATION_MS = 20_000
_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--no-pings",
    "--dns-prefetch-disable", "--disable-domain-reliability", "--disable-breakpad",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
"""Everything that could pass the proxy by is off; Chromium itself cannot resolve a single name."""
_CTRL_C_S = 0.5
_DRIVER_DIED = "Connection closed while reading from the driver"
_PATIENCE = Patience()


@contextmanager
def open_session(
    task: AgentTask,
    control: TrialControl,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    network: Network | None = None,
    patience: Patience = _PATIENCE,
) -> Iterator[BrowserSession]:
    """Yield a browser with a fresh profile and the task's start page; it ends with the block.

    Args:
        task: What is tried.
        control: Stops it.
        environ: Where credentials are looked up.
        clock: Source of time.
        network: The way out; the machine's own by default.
        patience: With a browser that does not answer.

    Raises:
        ConfigError: If credentials are missing or the start page must not be opened.
        AgentError: If the browser does not start, or the start page cannot be reached.
        MissingExtraError: If Playwright is not installed.
        RunCancelledError: If the run was stopped.
    """
    credentials = Credentials(task.credentials, environ)
    _check_start_url(task)
    with ExitStack() as stack:
        proxy = stack.enter_context(
            FilteringProxy(allow_private=task.allow_private_networks, network=network)
        )
        remove_leftovers()
        folder = stack.enter_context(make_temporary_folder())
        watchdog = stack.enter_context(
            BrowserWatchdog(BrowserProcesses(), clock, control.cancelled, patience)
        )
        with _errors_of_start(watchdog):
            context = _start_browser(watchdog, stack, folder, proxy.address, environ)
        watchdog.start_trial(task.time_limit_s)
        session = BrowserSession(
            context,
            proxy=proxy,
            credentials=credentials,
            folder=task.folder,
            watchdog=watchdog,
            cancelled=control.cancelled,
            allow_private=task.allow_private_networks,
        )
        if task.start_url:
            _open_start_page(session, task.start_url)
        yield session


def _check_start_url(task: AgentTask) -> None:
    if not task.start_url:
        return
    reason = explain_url_refusal(task.start_url, allow_private=task.allow_private_networks)
    if reason is not None:
        raise ConfigError(f"case {task.case_id}: the start page is refused: {reason}")


@contextmanager
def _errors_of_start(watchdog: BrowserWatchdog) -> Iterator[None]:
    """Limit the start, and convert all its errors to ours: a driver that dies raises many kinds."""
    try:
        with watchdog.starting() as limit:
            yield
    except PoorBenchError:
        raise
    except Exception as error:
        if watchdog.is_cancelled_within(_CTRL_C_S):
            raise RunCancelledError("the run was stopped") from error
        overdue = f"not ready within {watchdog.patience.start_s} s"
        reason = overdue if limit.is_enforced else shorten_message(str(error))
        raise AgentError(
            f"cannot start Chromium: {reason}",
            kind=FailureKind.AGENT,
            hint=f"run apt-get install chromium-headless-shell, or set {VARIABLE} to its path",
        ) from error


def _start_browser(
    watchdog: BrowserWatchdog,
    stack: ExitStack,
    folder: Path,
    proxy_address: str,
    environ: Mapping[str, str],
) -> BrowserContext:
    """Start Playwright's driver and Chromium; both end with `stack`, within a limit."""
    manager = require_playwright()
    logging.getLogger("asyncio").addFilter(_is_no_dead_driver)
    with watchdog.processes.starting_driver(), give_to_children(folder):
        if watchdog.is_cancelled_within(0):
            raise RunCancelledError("the run was stopped")
        playwright = manager.__enter__()
    stack.callback(_end, watchdog, partial(manager.__exit__, None, None, None))
    browser = launch(playwright, proxy_address, environ, watchdog.processes.flag)
    stack.callback(_end, watchdog, browser.close)
    watchdog.processes.remember_chromium()
    return make_context(browser)


def _end(watchdog: BrowserWatchdog, end: Callable[[], object]) -> None:
    with watchdog.ending(), suppress(Exception):
        end()


def _is_no_dead_driver(record: logging.LogRecord) -> bool:
    """Hide messages of asyncio about a driver that died: its user already got the error."""
    error = record.exc_info[1] if record.exc_info else None
    return _DRIVER_DIED not in str(error)


def _open_start_page(session: BrowserSession, url: str) -> None:
    try:
        visit(session, url)
    except ActionError as error:
        raise AgentError(
            f"cannot open the start page {url}: {error}", kind=FailureKind.AGENT
        ) from error


def visit(session: BrowserSession, url: str) -> None:
    """Open a page in the tab that is shown, and wait until it is there with all its frames.

    A page that goes on loading is left alone after a while, with a note.

    Raises:
        ActionError: If it must not be opened, or cannot be reached.
    """
    _open_url(session, url)
    with session.errors():
        session.settle()


def _open_url(session: BrowserSession, url: str) -> None:
    reason = explain_url_refusal(url, allow_private=session.allow_private)
    if reason is not None:
        raise ActionError(f"{url} is refused: {reason}")
    page = session.page
    try:
        with session.errors():
            page.goto(url, wait_until="domcontentloaded")
    except ActionError as error:
        with session.errors():
            session.settle()
        raise ActionError(session.complaint(url) or str(error)) from error
    complaint = session.complaint(page.url)
    if complaint is not None:
        raise ActionError(complaint)


def find_chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """Find the Chromium of the variable, else of the system; None means Playwright's own.

    Debian's headless shell comes first: a page in it takes a fifth of the processor time. Its
    program is named and not the script in the path, which would stay between us and it.
    """
    found = (shutil.which(each) for each in (_HEADLESS_SHELL, "chromium", "chromium-browser"))
    return environ.get(VARIABLE) or next(filter(None, found), None)


def require_playwright() -> AbstractContextManager[Playwright]:
    """Context manager that starts Playwright.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    library = import_extra("playwright.sync_api", "agents in a browser need", "playwright>=1.65")
    starter: AbstractContextManager[Playwright] = library.sync_playwright()
    return starter


def launch(
    playwright: Playwright, proxy_address: str, environ: Mapping[str, str], flag: str
) -> Browser:
    """Start Chromium with a fresh profile, all its traffic through a proxy.

    Its own sandbox is on where there can be one: not for root, and not where the system lets
    nobody else make one.

    Args:
        playwright: Starts it.
        proxy_address: The only way out.
        environ: The few variables that it needs are taken from here.
        flag: One more argument, by which its process is found.

    Raises:
        Error: Of Playwright, if it cannot be started.
    """
    from playwright.sync_api import Error

    start = partial(
        playwright.chromium.launch,
        executable_path=find_chromium(environ),
        args=[*_FLAGS, flag],
        proxy={"server": proxy_address},
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        env=_hide_secrets(environ),
    )
    if os.geteuid() == 0:
        return start(chromium_sandbox=False)
    try:
        return start(chromium_sandbox=True)
    except Error as error:
        if "no usable sandbox" not in error.message.lower():
            raise
        return start(chromium_sandbox=False)


def make_context(browser: Browser) -> BrowserContext:
    """Make a context without cookies or history, whose calls have time limits."""
    context = browser.new_context(
        viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT},
        locale="en-US",
        reduced_motion="reduce",
        service_workers="block",
        accept_downloads=True,
    )
    context.set_default_timeout(_ACTION_MS)
    context.set_default_navigation_timeout(_NAVIGATION_MS)
    return context


def _hide_secrets(environ: Mapping[str, str]) -> dict[str, str | float | bool]:
    """Keep the few variables that Chromium needs, without keys and passwords.

    TMPDIR is left out, too: Chromium puts a socket there, and ends if the path is longer than 107
    bytes.
    """
    needed = ("PATH", "HOME", "LANG", "FONTCONFIG_PATH", "XDG_RUNTIME_DIR")
    return {name: environ[name] for name in needed if name in environ}
