"""What all journeys share: a browser, a dashboard, and eyes on what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import NoBrowserError, started_browser
from tests.browser.served import TOKEN, served
from tests.browser.watched import Watch
from tests.browser.workspaces import with_results
from tests.conftest import WorkspaceFiles

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE_MS = 120_000
REQUIRED = "POOR_BENCH_REQUIRE_BROWSER"
_HERE = Path(__file__).parent
_ASK_OFTEN = """
const wait = window.setInterval;
const shorter = (ms) => Math.min(ms, Math.max(300, ms / 4));
window.setInterval = (act, ms, ...more) => wait(act, shorter(ms), ...more);
"""
"""Pages look for news every few seconds; in tests nobody waits for that.

Each look costs CPU of both sides: at three a second, a fifth of a core for an open page. So pages
of a dashboard that tests only read, which has no news, keep their own pace.
"""
_SKIP_FIRST_PAINT = """
document.addEventListener("DOMContentLoaded", () => {
  if (window.keepsFirstPaint) return;
  const skip = () => window.dash_clientside?.first_paint?.end();
  skip();
  new MutationObserver(skip).observe(document.body, { childList: true });
});
"""
"""Until a page is drawn, its texts stand twice in the document, once of them hidden."""
Visit = Callable[[str], "Page"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; without it tests are skipped, or fail where it is required.

    It ends with each file: as long as Playwright is open, nothing else of the process can use an
    event loop in this thread, other tests' browsers included.
    """
    with ExitStack() as stack:
        try:
            chromium = stack.enter_context(started_browser())
            _be_patient()
        except NoBrowserError as error:
            if os.environ.get(REQUIRED):
                raise
            pytest.skip(f"browser journeys need Chromium: {error}")
        yield chromium


def _be_patient() -> None:
    """Wait longer than Playwright's five seconds: machines of CI are slow and shared."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Start a dashboard over a folder and return its address."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(served(folder))


@pytest.fixture(scope="session")
def results_shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard over two LLMs with results, for tests that only read."""
    files = WorkspaceFiles(tmp_path_factory.mktemp("results_shown"))
    with served(with_results(files)) as address:
        yield address


@pytest.fixture
def new_visitor(
    browser: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], BrowserContext]]:
    """Return a function that opens a browser of its own for one dashboard.

    At the end of the test no page may have told of an error or asked another machine. Of a test
    that failed, pictures of its pages stay in its folder.
    """
    n_failed = request.session.testsfailed
    has_news = "serve" in request.fixturenames
    watches: list[Watch] = []
    contexts: list[BrowserContext] = []

    def open_context(address: str) -> BrowserContext:
        context = browser.new_context(
            base_url=address, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE_MS)
        if has_news:
            context.add_init_script(_ASK_OFTEN)
        context.add_init_script(_SKIP_FIRST_PAINT)
        if address.startswith("http"):  # a report is opened as a file
            context.request.get(f"/?token={TOKEN}")  # as the printed link does: leaves the cookie
        watches.append(Watch(context, address))
        contexts.append(context)
        return context

    yield open_context
    if request.session.testsfailed > n_failed:
        for number, page in enumerate(page for context in contexts for page in context.pages):
            page.screenshot(path=tmp_path / f"{request.node.name}-{number}.png")
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []
