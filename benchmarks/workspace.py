"""What it costs to load, check and lint a big workspace.

    python benchmarks/workspace.py [N]

Generates N (10,000) tests, and compares loading and checking them with a bare `json.loads` of the
same file, and checking the tests themselves with loading them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from poor_bench.config.load import load_workspace
from poor_bench.generators.generator import LEVELS, generate
from poor_bench.generators.lists import LISTS
from poor_bench.workspace_folder import WorkspaceFolder


def write_workspace(folder: Path, count: int) -> Path:
    tests = list(generate(LISTS, "lists", LEVELS, count, seed=0))
    classes = {"test_classes": [{"id": "lists", **LISTS.class_entry}]}
    llms = {"llms": [{"provider": "scripted", "name": "demo"}]}
    contents = {"tests.json": {"tests": tests}, "test_classes.yaml": classes, "llms.json": llms}
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
    return folder


def best_of(times: int, function: Callable[[], Any]) -> float:
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        durations.append(time.perf_counter() - start)
    return min(durations)


def memory_of(function: Callable[[], Any]) -> float:
    tracemalloc.start()
    kept = function()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return size / 2**20


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = write_workspace(Path(name), count)
        text = (folder / "tests.json").read_text(encoding="utf-8")
        bare = best_of(3, lambda: json.loads(text))
        load = best_of(3, lambda: load_workspace(folder))
        full = best_of(3, lambda: WorkspaceFolder(folder).workspace)
        lint = best_of(1, lambda: WorkspaceFolder(folder).lint())
        size = memory_of(lambda: load_workspace(folder))
        print(f"{count:,} tests, {len(text) / 2**20:.1f} MB; bare json.loads {bare:.2f} s")
        print(f"load and check: {load:.2f} s, {load / bare:.1f} x bare; {size:.1f} MB kept")
        print(f"with the evaluators' parameters: {full:.2f} s, {full / bare:.1f} x bare")
        print(f"lint, references scored: {lint:.2f} s, {lint / full:.1f} x loading")


if __name__ == "__main__":
    main()
