"""What storing results costs: appending, opening, merging.

    python benchmarks/store.py [N [FOLDER]]

Appends N (100,000) results to one journal and compares the cost of the first and the last
thousand; then merges, opens the merged snapshot, and compares with a bare orjson load of its lines.
Last, a run of a thousand results is written and closed in an empty store, and in the workspace
FOLDER, which keeps the run: both should cost the same, however much is stored.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import orjson

from poor_bench.models.result import Result
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore, open_store

BLOCK = 1_000


def result(number: int) -> Result:
    return Result(
        llm_id=f"openai:model-{number % 10}",
        test_id=f"test_{number // 10:06}",
        score=number % 2 / 1.0,
        details="Expected 4, got 4.",
        response="The answer is " + "x" * 150,
        prompt="Solve this and answer as JSON: 2 + 2",
        timestamp="2026-11-21T22:50:07.123+00:00",
        execution_time_ms=512.25,
        prompt_tokens=31,
        completion_tokens=12,
    )


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def print_run(store: ResultStore, where: str) -> None:
    """Print the CPU time of a run's storage, from its first result to its end."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
    results = [result(number) for number in range(BLOCK)]
    started = time.process_time()
    journal = store.open_run(run_id, {})
    for each in results:
        journal.append(each)
    appended = time.process_time()
    journal.close()
    store.merge()
    ended = time.process_time()
    print(
        f"a run of {BLOCK:,} in {where}: append {(appended - started) * 1000:.0f} ms, "
        f"end {(ended - appended) * 1000:.0f} ms of CPU"
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        store = ResultStore(StorePaths(Path(name) / "results.json"))
        journal = store.open_run("run1", {})
        blocks = []
        for start in range(0, count, BLOCK):
            results = [result(number) for number in range(start, start + BLOCK)]
            blocks.append(seconds(lambda results=results: [journal.append(r) for r in results]))
        journal.close()
        first, last = sorted(blocks[:10])[5], sorted(blocks[-10:])[5]
        print(
            f"append: {first / BLOCK * 1e6:.0f} us at first, {last / BLOCK * 1e6:.0f} us at "
            f"{count:,}: ratio {last / first:.2f}"
        )
        print(f"merge {count:,} from the journal: {seconds(store.merge):.2f} s")
        opened = seconds(lambda: sum(1 for _ in store.results()))
        lines = [
            line.rstrip(b",\n") for line in store.paths.snapshot.open("rb") if line[:1] == b"{"
        ]
        bare = seconds(lambda: [orjson.loads(line) for line in lines[1:]])
        print(
            f"open {count:,}: {opened:.2f} s (goal 2 s for 100,000); "
            f"{opened / bare:.1f} x a bare orjson load of the lines ({bare:.2f} s)"
        )
    with tempfile.TemporaryDirectory() as name:
        print_run(open_store(Path(name)), "an empty store")
    if len(sys.argv) > 2:
        print_run(open_store(Path(sys.argv[2])), sys.argv[2])


if __name__ == "__main__":
    main()
