"""What running a test costs: CPU, memory and wall time of `main.py run` against a local server.

    python benchmarks/runner.py

Prints, for 2,000, 6,000 and 10,000 tests at concurrency 32 with no latency: CPU per test (user and
system, start-up and all), the slope between 2,000 and 6,000, what comes beside it, and the peak
memory. Then the wall time of 2,000 tests at 50 ms against the ideal (tests x latency /
concurrency), after start-up: less what it takes to check the same workspace as a whole and run a
single test of it. Beside each stands a bare urllib3 loop in threads that asks the same and stores
nothing, in the same run. At last the same with a server that refuses every tenth request and breaks
every fiftieth, and what a piece of a stream costs (`streams.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from streams import print_comparison

ROOT = Path(__file__).resolve().parents[1]
CONCURRENCY = 32
LATENCY_MS = 50
_BARE = """
import json, sys, threading, urllib3
port, count, threads = map(int, sys.argv[1:])
pool = urllib3.HTTPConnectionPool("127.0.0.1", port, maxsize=threads)
numbers, lock = iter(range(count)), threading.Lock()
def work():
    while True:
        with lock:
            number = next(numbers, None)
        if number is None:
            return
        messages = [{"role": "user", "content": f"{number} + 2"}]
        body = json.dumps({"model": "m", "messages": messages})
        reply = pool.request("POST", "/v1/chat/completions", body=body)
        assert json.loads(reply.data)["choices"]
workers = [threading.Thread(target=work) for _ in range(threads)]
[worker.start() for worker in workers]
[worker.join() for worker in workers]
"""


class Cost(NamedTuple):
    cpu_s: float
    wall_s: float
    peak_mb: float


@contextmanager
def server(latency_ms: int, *options: str) -> Iterator[int]:
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "chat_server.py"),
        str(latency_ms),
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def measured(command: list[str]) -> Cost:
    """Run a command to its end and return what it cost, its children included."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed: {complaint.decode()[-2000:]}")
    wall_s = time.perf_counter() - start
    return Cost(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024)


def write_workspace(folder: Path, port: int, count: int) -> None:
    classes = {
        "version": "1.0",
        "test_classes": [
            {
                "id": "sums",
                "work_prompt_template": {"default": "Solve {problem} and answer as JSON."},
                "evaluation_module": {"name": "math_evaluator", "parameters": {}},
            }
        ],
    }
    tests = [
        {
            "test_id": f"sum_{number:06}",
            "class_id": "sums",
            "level": 1,
            "text": f"{number} + 2",
            "evaluation_module": {
                "name": "math_evaluator",
                "parameters": {"expected_answer": "4", "expected_format": "json"},
            },
        }
        for number in range(count)
    ]
    llm = {
        "provider": "openai",
        "name": "m",
        "endpoint": f"http://127.0.0.1:{port}/v1",
        "concurrency": CONCURRENCY,
        "parameters": {"temperature": 0},
    }
    (folder / "test_classes.yaml").write_text(json.dumps(classes))
    (folder / "tests.json").write_text(json.dumps({"version": "1.0", "tests": tests}))
    (folder / "llms.json").write_text(json.dumps({"llms": [llm]}))


def run_cost(port: int, count: int, *only: str) -> Cost:
    """Run a workspace of `count` tests: all of them, or only those named."""
    with tempfile.TemporaryDirectory() as name:
        write_workspace(Path(name), port, count)
        chosen = [option for test_id in only for option in ("--test", test_id)]
        cost = measured([sys.executable, "main.py", "--data", name, "run", "--json", *chosen])
        stored = json.loads((Path(name) / "results.json").read_text())["results"]
        assert sum(len(rows) for rows in stored.values()) == (len(only) or count)
        return cost


def bare_cost(port: int, count: int) -> Cost:
    return measured([sys.executable, "-c", _BARE, str(port), str(count), str(CONCURRENCY)])


def fixed_cost_s(costs: Mapping[int, Cost]) -> float:
    """Compute the CPU that does not grow with the tests, from runs of 2,000 and 6,000."""
    return costs[2_000].cpu_s - (costs[6_000].cpu_s - costs[2_000].cpu_s) / 2


def main() -> None:
    with server(0) as port:
        costs, bare_costs = {}, {}
        for count in (2_000, 6_000, 10_000):
            ours, bare = run_cost(port, count), bare_cost(port, count)
            costs[count], bare_costs[count] = ours, bare
            print(
                f"{count:6} tests: {ours.cpu_s / count * 1000:.2f} ms CPU per test, "
                f"{ours.peak_mb:.0f} MB peak, {ours.wall_s:.1f} s"
                f"   (bare urllib3 {bare.cpu_s / count * 1000:.2f} ms: ratio "
                f"{ours.cpu_s / bare.cpu_s:.1f})",
                flush=True,
            )
        slope = (costs[6_000].cpu_s - costs[2_000].cpu_s) / 4_000 * 1000
        growth = costs[10_000].peak_mb - costs[2_000].peak_mb
        print(f"slope from 2,000 to 6,000: {slope:.2f} ms per test (goal 1.5)")
        fixed_s = fixed_cost_s(costs) - fixed_cost_s(bare_costs)
        print(f"beside the slope: {fixed_s:.2f} s CPU more than the bare loop's start (goal 1.5)")
        print(f"memory: {costs[10_000].peak_mb:.0f} MB (goal 90), {growth:.0f} MB for 8,000 more")
    with server(LATENCY_MS) as port:
        count = 2_000
        ideal = count * LATENCY_MS / 1000 / CONCURRENCY
        ours, start_up = run_cost(port, count), run_cost(port, count, "sum_000000")
        bare = bare_cost(port, count)
        asking = ours.wall_s - start_up.wall_s
        print(
            f"{LATENCY_MS} ms latency: {asking:.2f} s after start-up, {asking / ideal:.2f} x the "
            f"ideal {ideal:.2f} s (goal 1.15); whole command {ours.wall_s:.2f} s, of which "
            f"start-up {start_up.wall_s:.2f} s; bare urllib3 {bare.wall_s:.2f} s"
        )
    with server(LATENCY_MS, "faults") as port:
        ours = run_cost(port, count)
        print(f"the same with 10 % 429 and 2 % 500: all {count} scored in {ours.wall_s:.2f} s")
    print_comparison()


if __name__ == "__main__":
    main()
