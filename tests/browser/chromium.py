"""Where Chromium is and how it is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from poor_bench.evaluation.browser.opening import VARIABLE, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class NoBrowserError(Exception):
    """There is no browser to test with; the message says what is missing."""


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Yield a browser.

    Raises:
        NoBrowserError: If Playwright or Chromium is not there.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise NoBrowserError("the package playwright is not installed") from error
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        except Error as error:
            reason = error.message.strip().splitlines()[0]
            raise NoBrowserError(
                f"no Chromium could be started ({reason}); install it or set {VARIABLE}"
            ) from error
        yield browser
        browser.close()
