"""How long `--help` and planning a run take over bare Python.

python benchmarks/start_up.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "recorded"
ROUNDS = 15


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    commands = {
        "bare Python": ["-c", "pass"],
        "--help": ["main.py", "--help"],
        "run --help": ["main.py", "run", "--help"],
        "run, a plan": ["main.py", "--data", str(EXAMPLE), "run", "--dry-run", "--json"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, arguments in commands.items():
            times[name].append(seconds(arguments))
    bare = statistics.median(times["bare Python"])
    for name, measured in times.items():
        median = statistics.median(measured)
        print(
            f"{name:12} {median * 1000:5.0f} ms   {(median - bare) * 1000:+5.0f} ms over bare "
            f"Python   ratio {median / bare:.1f}"
        )


if __name__ == "__main__":
    main()
