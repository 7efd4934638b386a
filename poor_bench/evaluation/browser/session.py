"""The live browser of one trial, for playbooks and LLM agents: page, events, credentials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from poor_bench.errors import AgentError, ConfigError, RunCancelledError
from poor_bench.evaluation.browser.addresses import is_web_page, parse_origin
from poor_bench.evaluation.browser.page_events import PageEvents
from poor_bench.evaluation.browser.proxy import FilteringProxy, RefusedHost
from poor_bench.evaluation.browser.redaction import Redactor
from poor_bench.evaluation.browser.watchdog import BrowserWatchdog
from poor_bench.models.failure import FailureKind

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page


_CALL_LOG = "Call log:"
_JS_STACK = "\n    at "
_LONGEST = 300


class ActionError(Exception):
    """An action on a page failed; the agent or the playbook learns why."""


class OutOfTimeError(Exception):
    """The time limit of the trial is over, and its browser has been ended."""


def shorten_message(message: str) -> str:
    """Shorten an error of Playwright: without its log of attempts and the stack of JavaScript."""
    first = message.partition(_CALL_LOG)[0].partition(_JS_STACK)[0].rstrip("= \n")
    return " ".join(first.removeprefix("Page.evaluate: ").split())[:_LONGEST]


class Credentials:
    """Values of environment variables, each with the only origin that may receive it."""

    def __init__(self, origins: Mapping[str, str], environ: Mapping[str, str]) -> None:
        """Look the values up.

        Raises:
            ConfigError: If a variable is not set, or an origin is not valid.
        """
        missing = [name for name in origins if not environ.get(name)]
        if missing:
            raise ConfigError(
                f"these environment variables are not set: {', '.join(missing)}",
                hint="the case names them as credentials",
            )
        self.values: Mapping[str, str] = {name: environ[name] for name in origins}
        self._origins = {name: _require_origin(name, origin) for name, origin in origins.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of credentials that an agent may type."""
        return tuple(self.values)

    def value_for(self, name: str, page_url: str) -> str:
        """Look up the value of a credential for a document at `page_url`.

        Raises:
            ActionError: If the credential does not exist, or belongs to another origin.
        """
        if name not in self.values:
            known = ", ".join(self.values) or "none"
            raise ActionError(f"credential {name!r} does not exist; known: {known}")
        if parse_origin(page_url) != self._origins[name]:
            raise ActionError(
                f"the credential {name} belongs to {self._origins[name]} only; "
                f"this part of the page is of {parse_origin(page_url) or 'no origin'}"
            )
        return self.values[name]


def _require_origin(name: str, url: str) -> str:
    origin = parse_origin(url)
    if origin is None:
        raise ConfigError(f"the origin of the credential {name} is not an http(s) URL: {url!r}")
    return origin


_TIMEOUT_MS = 5000
_QUALITY = 70
_MOST_FRAMES = 20


def take_screenshot(page: Page, path: Path, secrets: Iterable[str]) -> bool:
    """Store what is visible of a page as a JPEG; texts that hold a secret are covered.

    Returns:
        True if an image was stored; some states of a page have none.
    """
    from playwright.sync_api import TimeoutError as TookTooLongError

    try:
        page.screenshot(
            path=path,
            type="jpeg",
            quality=_QUALITY,
            timeout=_TIMEOUT_MS,
            mask=_find_covered(page, secrets),
        )
    except TookTooLongError:
        return False
    return True


def _find_covered(page: Page, secrets: Iterable[str]) -> list[Locator]:
    return [
        frame.get_by_text(secret)
        for secret in secrets
        for frame in page.frames[:_MOST_FRAMES]
        if not frame.is_detached()
    ]


_GONE = ("has been closed", "Connection closed", "Target crashed", "Browser closed", "Page crashed")
_CTRL_C_S = 0.5
_LONGEST_FACT = 10_000
_SETTLE_MS = 60
_LOADING_MS = 8_000


def _open_tab(context: BrowserContext) -> Page:
    """Open a tab; a second time if Chromium gave it a process that was just ended with a page."""
    from playwright.sync_api import Error

    try:
        return context.new_page()
    except Error as error:
        if "crashed" not in error.message:
            raise
        return context.new_page()


class BrowserSession:
    """A browser context with everything that belongs to it; used by one thread."""

    def __init__(
        self,
        context: BrowserContext,
        *,
        proxy: FilteringProxy,
        credentials: Credentials,
        folder: Path,
        watchdog: BrowserWatchdog,
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
        self._events = PageEvents(context, folder / "downloads")
        self._n_refusals_told = 0

    @property
    def page(self) -> Page:
        """The newest tab that is still open."""
        pages = [page for page in self._context.pages if self._events.is_usable(page)]
        if pages:
            return pages[-1]
        with self.errors(self._watchdog.patience.new_tab_s):
            return _open_tab(self._context)

    @property
    def refusals(self) -> tuple[RefusedHost, ...]:
        """Every attempt of the browser to reach what it must not reach, in order."""
        return self._proxy.filter.refusals

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
            message = self.redactor.text(shorten_message(error.message))
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
            self._events.save_downloads()

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
            self._events.note("the page is still loading")
        if not is_web_page(self.page.url):
            self._events.note("a page that is not http(s) was closed")
            self.page.goto("about:blank")
        self.save_downloads()

    def complaint(self, url: str) -> str | None:
        """Explain why the host of a URL could not be connected to; None if it could."""
        return self._proxy.filter.complaint(urlsplit(url).hostname or "")

    def take_notes(self) -> tuple[str, ...]:
        """Unrequested events since the last call."""
        refusals = self._proxy.filter.refusals[self._n_refusals_told :]
        self._n_refusals_told += len(refusals)
        told = dict.fromkeys(f"{each.host} was refused: {each.reason}" for each in refusals)
        notes = (*self._events.take_notes(), *told)
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
