"""Start the browser of a task, and end it completely afterwards."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.errors import AgentError, ConfigError, PoorBenchError, RunCancelledError
from poor_bench.evaluation.agent import AgentTask, TrialControl
from poor_bench.evaluation.browser.safety.network import Network
from poor_bench.evaluation.browser.safety.proxy import FilteringProxy
from poor_bench.evaluation.browser.safety.urls import url_refusal
from poor_bench.evaluation.browser.session.chromium import (
    VARIABLE,
    fresh_context,
    launch,
    require_playwright,
)
from poor_bench.evaluation.browser.session.credentials import Credentials
from poor_bench.evaluation.browser.session.errors import ActionError, short_message
from poor_bench.evaluation.browser.session.processes import BrowserProcesses
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.session.temporary_files import (
    remove_leftovers,
    temporary_folder,
    used_by_children,
)
from poor_bench.evaluation.browser.session.watchdog import Patience, Watchdog
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Clock

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

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
        clock: Tells the time.
        network: The way out; the machine's own by default.
        patience: With a browser that does not answer.

    Raises:
        ConfigError: If credentials are missing or the start page must not be opened.
        AgentError: If there is no browser, or the start page cannot be reached.
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
        folder = stack.enter_context(temporary_folder())
        processes = BrowserProcesses()
        watchdog = stack.enter_context(Watchdog(processes, clock, control.cancelled, patience))
        browser = _StartedBrowser(processes, watchdog, control, folder)
        context = stack.enter_context(browser.context(proxy.address, environ))
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
    reason = url_refusal(task.start_url, allow_private=task.allow_private_networks)
    if reason is not None:
        raise ConfigError(f"case {task.case_id}: the start page is refused: {reason}")


class _StartedBrowser:
    """A browser for one trial; its start and its end have time limits."""

    def __init__(
        self,
        processes: BrowserProcesses,
        watchdog: Watchdog,
        control: TrialControl,
        folder: Path,
    ) -> None:
        self._processes = processes
        self._watchdog = watchdog
        self._control = control
        self._folder = folder

    @contextmanager
    def context(self, proxy_address: str, environ: Mapping[str, str]) -> Iterator[BrowserContext]:
        with ExitStack() as stack:
            with self._starting():
                playwright = self._started_driver(stack)
                browser = launch(playwright, proxy_address, environ, self._processes.flag)
                stack.callback(self._close, browser)
                self._processes.remember_chromium()
                context = fresh_context(browser)
            yield context

    def _started_driver(self, stack: ExitStack) -> Playwright:
        manager = require_playwright()
        logging.getLogger("asyncio").addFilter(_is_no_dead_driver)
        with self._processes.starting_driver():
            if self._control.cancelled():
                raise RunCancelledError("the run was stopped")
            with used_by_children(self._folder):
                playwright = manager.__enter__()
        stack.callback(self._end_driver, manager)
        return playwright

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Convert all errors to ours: a driver that dies raises many kinds."""
        try:
            with self._watchdog.starting() as limit:
                yield
        except PoorBenchError:
            raise
        except Exception as error:
            if self._watchdog.is_cancelled_within(_CTRL_C_S):
                raise RunCancelledError("the run was stopped") from error
            limit_s = self._watchdog.patience.start_s
            message = f"not ready within {limit_s} s" if limit.is_enforced else str(error)
            raise AgentError(
                f"cannot start Chromium: {short_message(message)}",
                kind=FailureKind.AGENT,
                hint=f"run apt-get install chromium, or set {VARIABLE} to its path",
            ) from error

    def _close(self, browser: Browser) -> None:
        with self._watchdog.ending(), suppress(Exception):
            browser.close()

    def _end_driver(self, manager: AbstractContextManager[Playwright]) -> None:
        with self._watchdog.ending(), suppress(Exception):
            manager.__exit__(None, None, None)


def _is_no_dead_driver(record: logging.LogRecord) -> bool:
    """Hide messages of asyncio about a driver that died: its user already got the error."""
    error = record.exc_info[1] if record.exc_info else None
    return _DRIVER_DIED not in str(error)


def _open_start_page(session: BrowserSession, url: str) -> None:
    try:
        open_url(session, url)
    except ActionError as error:
        raise AgentError(
            f"cannot open the start page {url}: {error}", kind=FailureKind.AGENT
        ) from error


def open_url(session: BrowserSession, url: str) -> None:
    """Open a page in the tab that is shown.

    Raises:
        ActionError: If it must not be opened, or cannot be reached.
    """
    reason = url_refusal(url, allow_private=session.allow_private)
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
