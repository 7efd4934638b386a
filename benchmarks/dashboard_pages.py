"""What each page costs: opened by its address with the cache empty and filled, and by a link."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.dashboard_marks import changes, shows, time_opening, time_step

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

_LLMS = tuple(f"ollama%3Asynthetic-{number}%3A{number + 1}b" for number in range(10))


class Shown(NamedTuple):
    """A page: its address, what is read first on it, and what is there at last."""

    path: str
    seen: str
    """Selector of what can be read, within the page or its first paint."""
    drawn: str
    """Selector of what is drawn by the page itself, and can be sorted or filtered."""
    query: str = ""
    link: str = ""
    """Selector of the link on the Overview; that of the navigation if empty."""

    @property
    def tests(self) -> list[str]:
        """Write the two tests of `dashboard_marks` for it."""
        places = ", ".join(
            f'[data-{kind}="{self.path}"] :is({self.seen})' for kind in ("first-paint", "page")
        )
        return [shows(places), shows(self.drawn, is_drawn=True)]

    def follow(self, page: Page) -> list[float]:
        """Follow the link to it, and measure until it is seen and drawn."""
        link = self.link or f'#shell-navigation-nav a[href="{self.path}"]'
        return time_step(page, page.locator(link).first.click, self.tests)

    def open(self, page: Page, address: str) -> list[float]:
        """Open it in a new page, and measure until it is seen and drawn."""
        return time_opening(page, f"{address}{self.path}{self.query}", self.tests)


PAGES = {
    "Overview": Shown("/", "tbody tr, .ag-row", "#overview-leaderboard-grid .ag-row"),
    "Model": Shown(
        "/model", ".score-badge", "#model-results-grid .score-badge", f"?llm={_LLMS[3]}",
        "#overview-leaderboard-grid .model-link",
    ),
    "Compare": Shown(
        "/compare", "tbody tr", ".test-row", f"?{'&'.join(f'llm={llm}' for llm in _LLMS)}"
    ),
    "Issues": Shown("/issues", ".cause", "#issues-groups-body .cause"),
    "Tests": Shown("/tests", "tbody tr", "#tests-listed-body tbody tr"),
    "Models": Shown("/llms", "tbody tr", "[data-page='/llms'] tbody tr"),
    "Run": Shown("/run", ".choice", "#run-preview-body :is(tbody tr, .empty-state)"),
    "Judge": Shown("/judge", ".empty-state", "#judge-head-body .empty-state"),
    "Suites": Shown("/suites", ".empty-state", "#suites-cases-body .empty-state"),
}  # fmt: skip


class Step(NamedTuple):
    """Something that is pressed on a page, and the test that its answer is there."""

    name: str
    act: Callable[[Page], None]
    answer: str


def press(selector: str) -> Callable[[Page], None]:
    """Press an element."""
    return lambda page: page.locator(selector).first.click()


def write(selector: str, text: str) -> Callable[[Page], None]:
    """Write words into a box at once, as if they were pasted."""

    def act(page: Page) -> None:
        page.locator(selector).evaluate("box => { box.focus(); box.select(); }")
        page.keyboard.insert_text(text)

    return act


_GRID = "#model-results-grid .ag-center-cols-container .ag-row"
_PASSED = (
    f"() => readText('#model-count-text').includes('shown.') && [...document.querySelectorAll("
    f"'{_GRID} .score-badge')].every((badge) => badge.innerText.includes('1.00'))"
)
_MATCHING = (
    f"() => isShown('{_GRID}') && [...document.querySelectorAll('{_GRID} [col-id=test_id]')].every("
    "(name) => name.textContent.includes('_00012'))"
)
_COMPARED, _TESTS = changes("#compare-tests-body"), changes("#tests-listed-body")
_ISSUES = changes("#issues-groups-body")
_LEADERS = "#overview-leaderboard-grid .model-link"
_FOUND = (
    f"() => isShown('{_LEADERS}') && [...document.querySelectorAll('{_LEADERS}')].every((name) =>"
    " name.textContent.includes('synthetic-3'))"
)
STEPS = {
    "Overview": [
        Step("sort", press(".ag-header-cell[col-id='mean_s']"),
             changes("#overview-leaderboard-grid .ag-row[row-index='0']")),
        Step("search", write("#overview-text-input", "synthetic-3"), _FOUND),
    ],
    "Model": [
        Step("sort", press("#model-results-grid .ag-header-cell[col-id='score']"),
             changes(f"{_GRID}[row-index='0']")),
        Step("filter", press("#model-outcome-switch label:has-text('Passed')"), _PASSED),
        Step("search", write("#model-text-input", "_00012"), _MATCHING),
    ],
    "Compare": [
        Step("sort", press("#compare-chips-body .chip:has-text('Score')"), _COMPARED),
        Step("filter", press("#compare-chips-body .chip:has-text('Regressions')"), _COMPARED),
        Step("filter by chart", press("#compare-charts-body .facet-row"), _COMPARED),
        Step("search", write("#compare-text-input", "_00012"), _COMPARED),
    ],
    "Tests": [
        Step("sort", press("#tests-listed-body .sort-link:has-text('Mean')"), _TESTS),
        Step("filter", press("#tests-chips-body .chip:has-text('2')"), _TESTS),
        Step("search", write("#tests-text-input", "_00012"), _TESTS),
    ],
    "Issues": [
        Step("filter", press("#issues-chips-body .chip:has-text('high')"), _ISSUES),
    ],
}  # fmt: skip
"""In the order in which someone does them on one page."""


@dataclass
class Opening:
    """What openings of one page have cost."""

    seconds: list[list[float]] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    kilobytes: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        columns = zip(*self.seconds, strict=True)
        seconds = " ".join(f"{statistics.median(each):6.2f}" for each in columns)
        sizes = statistics.median(self.requests), statistics.median(self.kilobytes)
        return f"{seconds} s {sizes[0]:4.0f} {sizes[1]:6.0f} kB"


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
    pages = {name: (address + each.path + each.query, each.tests) for name, each in PAGES.items()}
    others = {name: (at, [shows(seen)] * 2) for name, (at, seen) in yardsticks.items()}
    found = {name: (Opening(), Opening()) for name in (*others, *pages)}
    for _ in range(repeats):
        for name, (at, tests) in (others | pages).items():
            with opened(browser, link) as context:
                for opening in found[name]:
                    _measure(context, at, tests, opening)
    return found


@contextmanager
def opened(browser: Browser, link: str) -> Iterator[BrowserContext]:
    """Yield a window of its own, with nothing in its cache, which may ask the dashboard."""
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    context.request.get(link)
    yield context
    context.close()


def _measure(context: BrowserContext, address: str, tests: Sequence[str], opening: Opening) -> None:
    page = context.new_page()
    with counted(page) as sizes:
        opening.seconds.append(time_opening(page, address, tests))
        page.wait_for_load_state("networkidle")
    opening.requests.append(sum(size > 0 for size in sizes))
    opening.kilobytes.append(sum(sizes) / 1000)
    page.close()


@contextmanager
def counted(page: Page) -> Iterator[list[float]]:
    """Yield the list of what a page receives, in bytes of each answer."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    yield sizes


def measure_links(browser: Browser, address: str, repeats: int, link: str) -> dict[str, Opening]:
    """Follow a link to each page and the one back, one page after the other."""
    overview, *others = PAGES.items()
    found: dict[str, Opening] = {}
    for _ in range(repeats):
        with opened(browser, link) as context:
            page = context.new_page()
            overview[1].open(page, address)
            for name, shown in others:
                for way, target in ((f"to {name}", shown), (f"{name} to Overview", overview[1])):
                    page.wait_for_load_state("networkidle")
                    with counted(page) as sizes:
                        seconds = target.follow(page)
                    opening = found.setdefault(way, Opening())
                    opening.seconds.append(seconds)
                    opening.requests.append(len(sizes))
                    opening.kilobytes.append(sum(sizes) / 1000)
    return found


def measure_steps(browser: Browser, address: str, link: str) -> Iterator[tuple[str, float]]:
    """Sort, filter and search on each page; yield the name of the step and its seconds."""
    for name, steps in STEPS.items():
        with opened(browser, link) as context:
            page = context.new_page()
            PAGES[name].open(page, address)
            for step in steps:
                page.wait_for_load_state("networkidle")
                [seconds] = time_step(page, partial(step.act, page), [step.answer])
                yield f"{name}: {step.name}", seconds


def report_pages(measured: dict[str, tuple[Opening, Opening]]) -> None:
    """Print a line for each page."""
    print(f"{'opened by its address':30} fresh: seen, drawn, requests   warm")
    for name, (fresh, warm) in measured.items():
        print(f"{name:30} {fresh!s:>30}   {warm!s:>30}")


def report_links(measured: dict[str, Opening]) -> None:
    """Print a line for each way."""
    print(f"{'opened by a link':30} seen, drawn, requests")
    for name, opening in measured.items():
        print(f"{name:30} {opening!s:>30}")
