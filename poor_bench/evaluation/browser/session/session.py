"""The live browser of one trial, for playbooks and LLM agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from poor_bench.errors import AgentError, RunCancelledError
from poor_bench.evaluation.browser.safety.network import Refusal
from poor_bench.evaluation.browser.safety.proxy import FilteringProxy
from poor_bench.evaluation.browser.safety.redaction import Redactor
from poor_bench.evaluation.browser.safety.urls import is_web_page
from poor_bench.evaluation.browser.session.credentials import Credentials
from poor_bench.evaluation.browser.session.errors import (
    ActionError,
    OutOfTimeError,
    short_message,
)
from poor_bench.evaluation.browser.session.happenings import Happenings
from poor_bench.evaluation.browser.session.screenshots import take_screenshot
from poor_bench.evaluation.browser.session.watchdog import Watchdog
from poor_bench.models.failure import FailureKind

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

_GONE = ("has been closed", "Connection closed", "Target crashed", "Browser closed", "Page crashed")
_NEW_TAB_S = 20.0
"""A new tab starts a process. If it were ended as overdue, it would never come."""
_CTRL_C_S = 0.5
_LONGEST_FACT = 10_000
_SETTLE_MS = 60
_LOADING_MS = 8_000


class BrowserSession:
    """A browser context with everything that belongs to it; used by one thread."""

    def __init__(
        self,
        context: BrowserContext,
        *,
        proxy: FilteringProxy,
        credentials: Credentials,
        folder: Path,
        watchdog: Watchdog,
        cancelled: Callable[[], bool],
        allow_private: bool,
    ) -> None:
        self.credentials = credentials
        self.redactor = Redactor(credentials.values)
        self.allow_private = allow_private
        self.n_steps = 0
        self.has_typed_credentials = False
        self._context = context
        self._proxy = proxy
        self._folder = folder
        self._watchdog = watchdog
        self._cancelled = cancelled
        self._happenings = Happenings(context, folder / "downloads")
        self._n_refusals_told = 0

    @property
    def page(self) -> Page:
        """The newest tab that is still open."""
        pages = [page for page in self._context.pages if self._happenings.is_usable(page)]
        if pages:
            return pages[-1]
        with self.errors(_NEW_TAB_S):
            return self._context.new_page()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Every attempt of the browser to reach what it must not reach, in order."""
        return self._proxy.refusals

    @contextmanager
    def errors(self, more_s: float = 0.0) -> Iterator[None]:
        """Turn errors of Playwright into ours, and wait no longer than it makes sense.

        Args:
            more_s: Seconds that the answer may take longer than others. When it is overdue, the
                pages are ended; where this does not help, the browser.

        Raises:
            ActionError: If the page did not allow what was tried, or did not answer.
            OutOfTimeError: If the time limit is reached.
            RunCancelledError: If the run was stopped.
            AgentError: If the browser is gone for another reason.
        """
        from playwright.sync_api import Error

        self.check_limits()
        try:
            with self._watchdog.asking_page(more_s) as limit:
                yield
        except Error as error:
            message = self.redactor.text(short_message(error.message))
            self.check_limits()
            if limit.is_enforced and not self._watchdog.has_given_up:
                raise ActionError("the page stopped responding and was closed") from error
            if not any(sign in message for sign in _GONE):
                raise ActionError(message) from error
            if self._watchdog.is_cancelled_within(_CTRL_C_S):
                raise RunCancelledError("the run was stopped") from error
            reason = "stopped responding" if limit.is_enforced else "is gone"
            raise AgentError(f"Chromium {reason}: {message}", kind=FailureKind.AGENT) from error

    def must_stop(self) -> bool:
        """True if the trial must not go on; `check_limits` says why."""
        return self._cancelled() or self._watchdog.is_out_of_time

    def check_limits(self) -> None:
        """Stop here if the trial must not go on.

        Raises:
            OutOfTimeError: If the time limit is reached.
            RunCancelledError: If the run was stopped.
        """
        if self._cancelled():
            raise RunCancelledError("the run was stopped")
        if self._watchdog.is_out_of_time:
            raise OutOfTimeError

    def save_downloads(self) -> None:
        """Save what was downloaded so far in the folder `downloads` of the trial."""
        with self.errors(more_s=inf):
            self._happenings.save_downloads()

    def wait(self, seconds: float) -> None:
        """Let the page go on by itself for a while."""
        with self.errors(more_s=seconds):
            self.page.wait_for_timeout(seconds * 1000)

    def settle(self) -> None:
        """Wait until the page that an action may have led to is there, or long enough."""
        from playwright.sync_api import TimeoutError as TookTooLongError

        page = self.page
        page.wait_for_timeout(_SETTLE_MS)
        try:
            self.page.wait_for_load_state("load", timeout=_LOADING_MS)
        except TookTooLongError:
            self._happenings.note("the page is still loading")
        if not is_web_page(self.page.url):
            self._happenings.note("a page that is not http(s) was closed")
            self.page.goto("about:blank")
        self.save_downloads()

    def complaint(self, url: str) -> str | None:
        """Why the host of a URL could not be connected to; None if it could."""
        return self._proxy.complaint(urlsplit(url).hostname or "")

    def take_notes(self) -> tuple[str, ...]:
        """Unrequested events since the last call."""
        refusals = self._proxy.refusals[self._n_refusals_told :]
        self._n_refusals_told += len(refusals)
        told = dict.fromkeys(f"{each.host} was refused: {each.reason}" for each in refusals)
        notes = (*self._happenings.take_notes(), *told)
        return tuple(self.redactor.text(note) for note in notes)

    def screenshot(self, number: int) -> str:
        """Store an image of the page; return its name in the trial's folder, or nothing."""
        name = f"step-{number:03}.jpg"
        with self.errors():
            taken = take_screenshot(self.page, self._folder / name, self.redactor.values)
        return name if taken else ""

    def read_fact(self, expression: str) -> Any:
        """Evaluate a JavaScript expression in the page; long values are cut.

        Raises:
            ActionError: If it fails, with the error of JavaScript.
            OutOfTimeError: If the time limit is reached.
        """
        with self.errors():
            value = self.page.evaluate(expression)
        if value is None or isinstance(value, bool | int | float):
            return value
        return str(value)[:_LONGEST_FACT]
