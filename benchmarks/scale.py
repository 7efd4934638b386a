"""What commands and the dashboard cost with up to a million results, beside DuckDB's bare query.

    python benchmarks/scale.py [--dashboard] [FOLDER] [LLMS TESTS]

Builds workspaces of 100, 10,000 and 100,000 results (or one of LLMS x TESTS; 50 20000 is a million
and takes some minutes) in FOLDER, or in a temporary one; those that stand in FOLDER already are
used as they are. Prints wall time, CPU time and peak memory of each command, with an index that is
there, and of a process that does nothing but one query over the same Parquet parts: mean score and
time by model. The goal of a million results is 3 s, and at most 3 times the bare query.

Both are whole processes. So the CPU time of each is split into its start (the same command in a
workspace of one result; Python with DuckDB and an empty query) and what the size adds. The first
ratio is of whole processes, the second of what the size adds.

With `--dashboard`, prints the same of a server that has just been started, page by page, in
Chromium, which runs already: from the start of the process to the first leaderboard that can be
read and to the table that can be sorted, then the model page, its filters and searches, and
Compare. The goal is 3 s, then 0.5 s, and 600 MB. An empty page of plain Dash, served anew and
opened in the same run, is the yardstick.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from benchmarks.dashboard import EMPTY_PAGE, TOKEN, peak_mb, started
from benchmarks.dashboard_marks import shows, time_opening
from benchmarks.dashboard_pages import PAGES, measure_steps, opened
from benchmarks.dashboard_workspace import build_workspace
from tests.browser.chromium import started_browser
from tests.browser.served import hold_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COMMANDS = (
    "status", "report", "report --by class", "report --format times",
    "compare ollama:synthetic-0:1b ollama:synthetic-1:2b", "gate --min-score 0.1", "tests analyse",
    "issues",
)  # fmt: skip
BARE = """
import sys, duckdb
duckdb.sql(f\"\"\"SELECT llm_id, avg(score), avg(execution_time_ms)
FROM read_parquet('{sys.argv[1]}/index/*/*.numbers.parquet') GROUP BY llm_id\"\"\").fetchall()
"""
NOTHING = "import duckdb; duckdb.sql('SELECT 1').fetchall()"
REPEATS = 3


class Cost(NamedTuple):
    """Least of each figure over some repeats."""

    wall_s: float
    cpu_s: float
    peak_mb: float


class Split(NamedTuple):
    """Cost of a process, and of the same one with next to nothing to do."""

    whole: Cost
    start: Cost

    @property
    def added_s(self) -> float:
        """CPU time that the size adds, in seconds."""
        return max(0.01, self.whole.cpu_s - self.start.cpu_s)


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--dashboard"]
    if any(word.startswith("-") for word in words):
        sys.exit(__doc__)
    folder = words.pop(0) if len(words) % 2 else ""
    sizes = [(int(words[0]), int(words[1]))] if words else [(5, 20), (10, 1_000), (10, 10_000)]
    with tempfile.TemporaryDirectory() as temporary:
        smallest = Path(temporary) / "smallest"
        smallest.mkdir()
        build_workspace(smallest, 2, 1)
        for n_llms, n_tests in sizes:
            workspace = Path(folder or temporary) / f"{n_llms}x{n_tests}"
            if not workspace.exists():
                workspace.mkdir(parents=True)
                build_workspace(workspace, n_llms, n_tests)
            report(workspace, n_llms * n_tests, smallest)
            if "--dashboard" in sys.argv:
                report_dashboard(workspace)


def report_dashboard(workspace: Path) -> None:
    """Print what the pages of a new server cost, in the order in which someone opens them."""
    command = [sys.executable, "dashboard.py", "--data", str(workspace), "--port"]
    with started_browser() as browser, hold_port() as port:
        print_empty_page(browser)
        begun = time.perf_counter()
        with started([*command, str(port)]) as (pid, address):
            greeted = time.perf_counter() - begun
            link = f"{address}/?token={TOKEN}"
            for name, shown in (("Overview", PAGES["Overview"]), *PAGES.items()):
                used = read_cpu_s(pid)
                with opened(browser, link) as context:
                    seen, drawn = shown.open(context.new_page(), address)
                print(f"{greeted:6.2f} + " if greeted else f"{'':9}", end="")
                print_page(name, pid, f"seen {seen:5.2f} s drawn {drawn:5.2f} s", used)
                greeted = 0.0
            for name, seconds in measure_steps(browser, address, link):
                print_page(name, pid, f"{seconds:5.2f} s", None)


def print_empty_page(browser: Browser) -> None:
    """Print what an empty page of plain Dash takes, from the start of its server on."""
    begun = time.perf_counter()
    with started([sys.executable, "-c", EMPTY_PAGE]) as (pid, address):
        greeted = time.perf_counter() - begun
        with opened(browser, address) as context:
            [seen] = time_opening(context.new_page(), address, [shows("#ready")])
        print(f"{greeted:6.2f} + ", end="")
        print_page("empty Dash page", pid, f"seen {seen:5.2f} s{'':13}", None)


def print_page(name: str, pid: int, told: str, used_s: float | None) -> None:
    """Print times of the browser, and the CPU time and memory of the server."""
    cpu = "" if used_s is None else f", server {read_cpu_s(pid) - used_s:5.2f} CPU s"
    print(f"{name:26} {told}{cpu}, peak {peak_mb(pid):4.0f} MB", flush=True)


def read_cpu_s(pid: int) -> float:
    """Read the CPU time that a process has used, in seconds."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def report(workspace: Path, n_results: int, smallest: Path) -> None:
    """Print what each command costs."""
    run([sys.executable, "-c", _BUILD_INDEX, str(workspace)])
    has_parts = any((workspace / "index").rglob("*.numbers.parquet"))
    query = [sys.executable, "-c", BARE, str(workspace)]
    nothing = measure([sys.executable, "-c", NOTHING])
    bare = Split(measure(query), nothing) if has_parts else None
    print(f"{n_results:,} results")
    if bare:
        print_split("DuckDB alone, one query", bare, None)
    for words in COMMANDS:
        command = [sys.executable, "main.py", *words.split(), "--data"]
        start = measure([*command, str(smallest)])
        print_split(words, Split(measure([*command, str(workspace)]), start), bare)


_BUILD_INDEX = f"""
import sys; from pathlib import Path
sys.path.insert(0, {str(PROJECT)!r})
from poor_bench.results.store import open_store
open_store(Path(sys.argv[1])).table()
"""


def measure(command: list[str]) -> Cost:
    """Run a command a few times."""
    costs = [run(command) for _ in range(REPEATS)]
    return Cost(*(min(figures) for figures in zip(*costs, strict=True)))


def run(command: list[str]) -> Cost:
    """Run a command without its output; the kernel counts its CPU time and memory."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    used = usage.ru_utime + usage.ru_stime
    return Cost(time.perf_counter() - start, used, usage.ru_maxrss / 1024)


def print_split(name: str, split: Split, bare: Split | None) -> None:
    start_s = split.start.cpu_s
    text = f"start {start_s:5.2f} s, size adds {split.whole.cpu_s - start_s:6.2f} s"
    if bare:
        whole, added = split.whole.cpu_s / bare.whole.cpu_s, split.added_s / bare.added_s
        text += f"; {whole:5.1f} x and {added:5.1f} x the query"
    print_cost(name, split.whole, text)


def print_cost(name: str, cost: Cost, remark: str = "") -> None:
    print(
        f"  {name:26} {cost.wall_s:6.2f} s wall {cost.cpu_s:6.2f} s CPU {cost.peak_mb:6.0f} MB  "
        f"{remark}",
        flush=True,
    )


if __name__ == "__main__":
    os.chdir(PROJECT)
    main()
