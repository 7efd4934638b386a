"""What the dashboard costs with 100,000 results: opening, the model page, sorting, filtering.

    python benchmarks/dashboard.py [LLMS TESTS]

Builds a temporary workspace of 10 LLMs x 10,000 tests, serves it as users do, and measures in
Chromium, each page in a browser context of its own: nothing is in its cache. An empty page of
plain Dash, measured in the same run, is the yardstick; what the libraries of tables and controls
cost by themselves stands beside it. Before a table is sorted, filtered or searched there is a pause
as of someone who looks at it; what the step before left to draw is not counted twice.
At the end each page is opened with an empty and with a filled cache, with its requests and bytes.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from benchmarks.dashboard_pages import measure_pages, report_pages
from benchmarks.dashboard_workspace import build_workspace
from tests.browser.chromium import started_browser
from tests.browser.served import TOKEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PORT = 8157
EMPTY_PORT = 8158
ONE_CELL_PORT = 8159
REPEATS = 5
LOOK_MS = 500
EMPTY_PAGE = f"""
from dash import Dash, html
from waitress import serve
app = Dash()
app.layout = html.Div("ready", id="ready")
print("http://127.0.0.1:{EMPTY_PORT}", flush=True)
serve(app.server, host="127.0.0.1", port={EMPTY_PORT}, threads=16)
"""
ONE_CELL = (
    EMPTY_PAGE.replace(
        'html.Div("ready", id="ready")',
        'dmc.MantineProvider(dag.AgGrid(columnDefs=[{"field": "a"}], rowData=[{"a": 1}]))',
    )
    .replace(
        "from dash import",
        "import dash_ag_grid as dag, dash_mantine_components as dmc\nfrom dash import",
    )
    .replace(str(EMPTY_PORT), str(ONE_CELL_PORT))
)
FIRST_SEEN = "[data-first-paint='/model'] .score-badge"
"""Figures and first results of a model, as plain HTML."""
ROW = "#model-results-grid .ag-center-cols-container .ag-row"
DRAWN = f"{ROW} .score-badge"
NOTE = "#model-count-text"
TEST = "#compare-tests-body .test-row"
TEST_COUNT = "#compare-chips-body .chip-count"


@dataclass
class Figures:
    """Seconds of each repeat by what was measured."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, seconds: float) -> None:
        self.seconds.setdefault(name, []).append(seconds)

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])


def main() -> None:
    n_llms, n_tests = (int(text) for text in sys.argv[1:3]) if len(sys.argv) > 2 else (10, 10_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"building {n_llms} LLMs x {n_tests:,} tests", flush=True)
        build_workspace(folder, n_llms, n_tests)
        print(f"building the index, once for a workspace: {build_index(folder):.2f} s", flush=True)
        dashboard = [sys.executable, "dashboard.py", "--data", str(folder), "--port", str(PORT)]
        with (
            started(dashboard) as (pid, address),
            started([sys.executable, "-c", EMPTY_PAGE]) as (_, empty),
            started([sys.executable, "-c", ONE_CELL]) as (_, one_cell),
            started_browser() as browser,
        ):
            report(measure(browser, address, empty, one_cell), peak_mb(pid))
            yardsticks = {
                "empty Dash page": (empty, "#ready"),
                "the same libraries, one cell": (one_cell, ".ag-row"),
            }
            link = f"{address}/?token={TOKEN}"
            report_pages(measure_pages(browser, address, yardsticks, REPEATS, link))


def build_index(folder: Path) -> float:
    """Build the index in a process of its own, as any command that reads results does."""
    program = (
        "import sys; from pathlib import Path; from poor_bench.results.store import open_store"
    )
    program += "; open_store(Path(sys.argv[1])).table()"
    command = [sys.executable, "-c", program, str(folder)]
    start = time.perf_counter()
    subprocess.run(command, cwd=PROJECT, check=True)
    return time.perf_counter() - start


@contextmanager
def started(command: list[str]) -> Iterator[tuple[int, str]]:
    """Yield process id and address of a server that says its address."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "POOR_BENCH_TOKEN": TOKEN}
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = next(
            found[0] for line in process.stdout if (found := re.search(r"http://[\d.:]+", line))
        )
        try:
            yield process.pid, address
        finally:
            process.terminate()


def measure(
    browser: Browser, address: str, empty: str, one_cell: str
) -> tuple[Figures, float, float]:
    figures, wire, empty_wire = Figures(), [], []
    with opened(browser) as page:
        figures.add("first opening", timed(lambda: open_overview(page, address)))
    with opened(browser) as page:
        figures.add("first look for issues", timed(lambda: open_issues(page, address)))
    for _ in range(REPEATS):
        with opened(browser) as page:
            figures.add("empty Dash page", timed(lambda: open_empty(page, empty)))
            empty_wire.append(received_mb(page))
        with opened(browser) as page:
            figures.add("the same libraries, one cell", timed(lambda: open_cell(page, one_cell)))
        with opened(browser) as page:
            figures.add("overview, first seen", timed(lambda: see_overview(page, address)))
        with opened(browser) as page:
            figures.add("overview", timed(lambda: open_overview(page, address)))
            page.wait_for_load_state("networkidle")
            wire.append(received_mb(page))
            start = time.perf_counter()
            follow_first_model(page, FIRST_SEEN)
            figures.add("overview to model page, first seen", time.perf_counter() - start)
            page.wait_for_selector(DRAWN, timeout=120_000)
            figures.add("overview to model page", time.perf_counter() - start)
            wait_for_the_rest(page)
            for name, step in (
                ("sort by score", lambda: sort_by_score(page)),
                ("filter to passed", lambda: filter_to(page, "Passed")),
                ("search in all texts", lambda: search(page, "_00012")),
            ):
                page.wait_for_timeout(LOOK_MS)
                figures.add(name, timed(step))
        with opened(browser) as page:
            figures.add("model page opened directly", timed(lambda: open_model(page, address)))
        with opened(browser) as page:
            figures.add("compare, opened directly", timed(lambda: open_compare(page, address)))
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(LOOK_MS)
            figures.add("search in compared texts", timed(lambda: search_compared(page, "_00012")))
        with opened(browser) as page:
            figures.add("issues, opened directly", timed(lambda: open_issues(page, address)))
    return figures, statistics.median(wire), statistics.median(empty_wire)


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    context.request.get(f"http://127.0.0.1:{PORT}/?token={TOKEN}")
    page = context.new_page()
    page.wait_for_timeout(LOOK_MS)  # a browser that opens a window is busy with that for a while
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    received = [0.0]
    session.on(
        "Network.loadingFinished",
        lambda event: received.__setitem__(0, received[0] + event["encodedDataLength"]),
    )
    RECEIVED[page] = received
    try:
        yield page
    finally:
        del RECEIVED[page]
        context.close()


RECEIVED: dict[Page, list[float]] = {}


def received_mb(page: Page) -> float:
    return RECEIVED[page][0] / 1e6


def timed(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def open_empty(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector("#ready")


def open_cell(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector(".ag-row")


def open_overview(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    wait_for_overview(page)


def wait_for_overview(page: Page) -> None:
    page.wait_for_selector("#overview-leaderboard-grid .ag-row", timeout=120_000)


def see_overview(page: Page, address: str) -> None:
    """Open the overview until its figures can be read, be it as plain HTML."""
    page.goto(address, wait_until="commit")
    page.wait_for_selector("[data-first-paint] tbody tr, .ag-row", timeout=120_000)


def open_model(page: Page, address: str) -> None:
    page.goto(f"{address}/model?llm=ollama%3Asynthetic-3%3A4b", wait_until="commit")
    page.wait_for_selector(DRAWN, timeout=120_000)


def open_compare(page: Page, address: str) -> None:
    llms = "&".join(f"llm=ollama%3Asynthetic-{llm}%3A{llm + 1}b" for llm in range(10))
    page.goto(f"{address}/compare?{llms}", wait_until="commit")
    page.wait_for_selector(TEST, timeout=120_000)


def search_compared(page: Page, text: str) -> None:
    before = page.inner_text(TEST_COUNT)
    page.fill("#compare-text-input", text)
    page.wait_for_function(
        "([count, before]) => document.querySelector(count).innerText !== before",
        arg=[TEST_COUNT, before],
    )


def open_issues(page: Page, address: str) -> None:
    page.goto(f"{address}/issues", wait_until="commit")
    page.wait_for_selector("#issues-groups-body .cause", timeout=300_000)


def follow_first_model(page: Page, seen: str = DRAWN) -> None:
    page.click("#overview-leaderboard-grid .model-link >> nth=0")
    page.wait_for_selector(seen, timeout=120_000)


def wait_for_the_rest(page: Page) -> None:
    """Wait until the slow parts of the model page are there too."""
    page.wait_for_selector("#model-chart-body .heat-map", timeout=120_000)
    page.wait_for_selector("#model-issues-body .chip-row", timeout=120_000)
    page.wait_for_load_state("networkidle")


def sort_by_score(page: Page) -> None:
    before = page.inner_text(f"{ROW} >> nth=0")
    page.click("#model-results-grid .ag-header-cell[col-id='score']")
    page.wait_for_function(
        "([row, before]) => { const first = document.querySelector(row + '[row-index=\"0\"]');"
        " return first && first.innerText && first.innerText !== before; }",
        arg=[ROW, before],
    )


def filter_to(page: Page, outcome: str) -> None:
    page.click(f"#model-outcome-switch label:has-text('{outcome}') >> nth=0")
    page.wait_for_function(
        "note => document.querySelector(note).innerText.includes('shown.')", arg=NOTE
    )
    page.wait_for_function(
        "row => { const badges = [...document.querySelectorAll(row + ' .score-badge')];"
        " return badges.length > 0 && badges.every(badge => badge.innerText.includes('1.00')); }",
        arg=ROW,
    )


def search(page: Page, text: str) -> None:
    before = page.inner_text(NOTE)
    page.fill("#model-text-input", text)
    page.wait_for_function(
        "([note, before]) => document.querySelector(note).innerText !== before",
        arg=[NOTE, before],
    )


def peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024


def report(measured: tuple[Figures, float, float], peak: float) -> None:
    figures, wire, empty_wire = measured
    yardstick = figures.median("empty Dash page")
    print(f"{'':30} median s   x empty page   goal")
    goals = {"overview, first seen": 1.0, "overview": 2.5, "model page opened directly": None,
             "overview to model page, first seen": 0.3, "overview to model page": 1.5,
             "sort by score": 0.5, "filter to passed": 0.5,
             "search in all texts": 0.5,
             "search in compared texts": 0.5}  # fmt: skip
    for name, seconds in figures.seconds.items():
        median = statistics.median(seconds)
        goal = f"{goals[name]} s" if goals.get(name) else ""
        print(f"{name:30} {median:8.2f} {median / yardstick:14.2f}   {goal}")
    print(
        f"on the wire, overview as opened {wire:.2f} MB (goal 1.2), empty page {empty_wire:.2f} MB"
    )
    print(f"server at its peak {peak:.0f} MB (goal 1200)")


if __name__ == "__main__":
    main()
