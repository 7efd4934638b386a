"""From a task to a live browser, and to nothing at all afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
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
from poor_bench.evaluation.browser.session.processes import end_process_group, process_group_of
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.session.watchdog import Watchdog
from poor_bench.models.failure import FailureKind
from poor_bench.ports import Clock

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


@contextmanager
def open_session(
    task: AgentTask,
    control: TrialControl,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    network: Network | None = None,
) -> Iterator[BrowserSession]:
    """Yield a browser with a fresh profile and the task's start page; it ends with the block.

    Args:
        task: What is tried.
        control: Stops it.
        environ: Where credentials are looked up.
        clock: Tells the time.
        network: The way out; the machine's own by default.

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
        context, group = stack.enter_context(_started(proxy, environ, control))
        deadline_s = clock.monotonic() + task.time_limit_s
        watchdog = Watchdog(group, clock, deadline_s, control.cancelled)
        stack.enter_context(watchdog)
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


@contextmanager
def _started(
    proxy: FilteringProxy, environ: Mapping[str, str], control: TrialControl
) -> Iterator[tuple[BrowserContext, int | None]]:
    from playwright.sync_api import Error

    with require_playwright() as playwright:
        try:
            browser = launch(playwright, proxy.address, environ)
            group = process_group_of(browser)
            context = fresh_context(browser)
        except Error as error:
            raise _not_started(error.message, control) from error
        try:
            yield context, group
        finally:
            with contextlib.suppress(Error):
                browser.close()
            end_process_group(group)


def _not_started(message: str, control: TrialControl) -> AgentError | RunCancelledError:
    if control.cancelled():
        return RunCancelledError("the run was stopped")
    return AgentError(
        f"no Chromium could be started: {short_message(message)}",
        kind=FailureKind.AGENT,
        hint=f"apt-get install chromium, or name one in {VARIABLE}",
    )


def _open_start_page(session: BrowserSession, url: str) -> None:
    try:
        open_url(session, url)
    except ActionError as error:
        raise AgentError(
            f"the start page {url} cannot be opened: {error}", kind=FailureKind.AGENT
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
