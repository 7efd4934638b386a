"""What opening each page costs in seconds, requests and bytes: cache empty, and filled."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

_PATIENCE_MS = 300_000
_LOOK_MS = 500
_LLMS = tuple(f"ollama%3Asynthetic-{number}%3A{number + 1}b" for number in range(10))
PAGES = {
    "Overview": ("/", "#overview-leaderboard-grid .ag-row"),
    "Model": (f"/model?llm={_LLMS[3]}", "#model-results-grid .score-badge"),
    "Compare": (f"/compare?{'&'.join(f'llm={llm}' for llm in _LLMS)}", ".test-row"),
    "Issues": ("/issues", "#issues-groups-body .cause"),
    "Tests": ("/tests", "main .ag-row, main tbody tr"),
    "Models": ("/llms", "main .ag-row, main tbody tr"),
    "Run": ("/run", "main h1"),
    "Judge": ("/judge", "main h1"),
    "Suites": ("/suites", "main h1"),
}
"""Title of a page to its address, and what has to be seen."""


@dataclass
class Opening:
    """What openings of one page have cost."""

    seconds: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    kilobytes: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        seconds, requests = statistics.median(self.seconds), statistics.median(self.requests)
        return f"{seconds:7.2f} s {requests:5.0f} {statistics.median(self.kilobytes):8.0f} kB"


def measure_pages(
    browser: Browser, address: str, yardsticks: dict[str, tuple[str, str]], repeats: int, link: str
) -> dict[str, tuple[Opening, Opening]]:
    """Open all pages in turn, fresh and then warm.

    Args:
        browser: The browser; each opening has a context of its own.
        address: Of the dashboard.
        yardsticks: Name to address, and what has to be seen, of pages to compare with.
        repeats: How often each page is opened.
        link: Gives leave to open the dashboard.
    """
    pages = {name: (address + path, seen) for name, (path, seen) in PAGES.items()}
    found = {name: (Opening(), Opening()) for name in (*yardsticks, *pages)}
    for _ in range(repeats):
        for name, (at, seen) in (yardsticks | pages).items():
            context = browser.new_context(viewport={"width": 1600, "height": 1000})
            context.request.get(link)
            for opening in found[name]:
                _measure(context, at, seen, opening)
            context.close()
    return found


def _measure(context: BrowserContext, address: str, seen: str, opening: Opening) -> None:
    page = context.new_page()
    page.wait_for_timeout(_LOOK_MS)  # a browser that opens a window is busy with that for a while
    with _counted(page, opening):
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_selector(seen, timeout=_PATIENCE_MS)
        opening.seconds.append(time.perf_counter() - start)
        page.wait_for_load_state("networkidle")
    page.close()


@contextmanager
def _counted(page: Page, opening: Opening) -> Iterator[None]:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    yield
    opening.requests.append(sum(size > 0 for size in sizes))
    opening.kilobytes.append(sum(sizes) / 1000)


def report_pages(measured: dict[str, tuple[Opening, Opening]]) -> None:
    """Print a line for each page."""
    print(f"{'':30} {'fresh: until seen, requests, bytes':>34} {'warm':>30}")
    for name, (fresh, warm) in measured.items():
        print(f"{name:30} {fresh!s:>34} {warm!s:>30}")
