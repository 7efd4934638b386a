"""What the dashboard costs with 100,000 results: opening pages, links, sorting, filtering.

    python benchmarks/dashboard.py [LLMS TESTS | WORKSPACE]

Builds a temporary workspace of 10 LLMs x 10,000 tests, serves it as users do, and measures in
Chromium. An empty page of plain Dash, measured in the same run, is the yardstick; what the
libraries of tables and controls cost by themselves stands beside it. Each page is opened by its
address with an empty and a filled cache, with its requests and bytes, and by a link from the
Overview and back. Seen means that what the reader wants first can be read, drawn that the page
itself shows what can then be sorted and filtered. The page takes the times: `dashboard_marks.py`.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from benchmarks.dashboard_pages import (
    PAGES,
    measure_links,
    measure_pages,
    measure_steps,
    opened,
    report_links,
    report_pages,
)
from benchmarks.dashboard_workspace import build_workspace
from tests.browser.chromium import started_browser
from tests.browser.served import TOKEN

PORT = 8157
EMPTY_PORT = 8158
ONE_CELL_PORT = 8159
REPEATS = 5
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


def main() -> None:
    words = sys.argv[1:]
    if len(words) == 1 and not Path(words[0]).is_dir():
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(words[0] if len(words) == 1 else name)
        if len(words) != 1:
            n_llms, n_tests = (int(text) for text in words) if words else (10, 10_000)
            print(f"building {n_llms} LLMs x {n_tests:,} tests", flush=True)
            build_workspace(folder, n_llms, n_tests)
        print(f"building the index, once for a workspace: {build_index(folder):.2f} s", flush=True)
        measure(folder)


def measure(folder: Path) -> None:
    """Serve a workspace, and print what its pages cost."""
    dashboard = [sys.executable, "dashboard.py", "--data", str(folder), "--port", str(PORT)]
    with (
        started(dashboard) as (pid, address),
        started([sys.executable, "-c", EMPTY_PAGE]) as (_, empty),
        started([sys.executable, "-c", ONE_CELL]) as (_, one_cell),
        started_browser() as browser,
    ):
        link = f"{address}/?token={TOKEN}"
        for name in ("Overview", "Issues"):
            with opened(browser, link) as context:
                seen, drawn = PAGES[name].open(context.new_page(), address)
                print(f"{name + ', first look':30} {seen:6.2f} {drawn:6.2f} s", flush=True)
        report_links(measure_links(browser, address, REPEATS, link))
        steps: dict[str, list[float]] = {}
        for _ in range(REPEATS):
            for name, seconds in measure_steps(browser, address, link):
                steps.setdefault(name, []).append(seconds)
        for name, times in steps.items():
            print(f"{name:30} {statistics.median(times):6.2f} s")
        yardsticks = {
            "empty Dash page": (empty, "#ready"),
            "the same libraries, one cell": (one_cell, ".ag-row"),
        }
        report_pages(measure_pages(browser, address, yardsticks, REPEATS, link))
        print(f"server at its peak {peak_mb(pid):.0f} MB")


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


def peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main()
