"""What a cluster costs per item, and what a second worker gains on sandboxed scoring.

    python benchmarks/cluster.py [--answers 2000] [--rounds 3]

`trial` asks and scores trials of a scripted model that answers at once: all CPU, of this process
and of the workers, is counted. `text` and `code` score stored answers again.

Both clusters run on this machine, and their rounds take turns, so that ratios hold on a noisy
machine. The sandbox of each worker stays on a core of its own. This process and the scheduler use
what those leave: on two cores, a part of what the second worker could gain. `bare` runs the same
programs in one and in two plain processes: the most that this machine gains at that moment.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from poor_bench.cluster.cluster import open_cluster
from poor_bench.models.result import Result
from poor_bench.runner.jobs import JudgeItem
from poor_bench.runner.selection import Selection
from poor_bench.sandbox import describe_sandbox_terms
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

CASES = [{"input": [n], "expected_output": sum(range(n * 20_000))} for n in range(1, 4)]
PROGRAM = """
def f(n):
    total = 0
    for i in range(n * 20_000):
        total += i
    return total
"""
CODE = f"```python{PROGRAM}```"
BARE = f"""
import os, sys
os.sched_setaffinity(0, {{int(sys.argv[1])}})
{PROGRAM}
for _ in range(int(sys.argv[2])):
    for n in range(1, {len(CASES) + 1}):
        f(n)
"""
CLASSES = {
    "code": {"name": "python_evaluator", "parameters": {"test_cases": CASES}},
    "text": {"name": "contains", "parameters": {"all": ["Paris"]}},
}
ANSWERS = {"code": CODE, "text": "The capital of France is Paris. " * 20}


def write_workspace(folder: Path) -> WorkspaceFolder:
    classes = [
        {"id": name, "work_prompt_template": {"default": "{problem}"}, "evaluation_module": module}
        for name, module in CLASSES.items()
    ]
    tests = [{"test_id": name, "class_id": name, "level": 1, "text": name} for name in CLASSES]
    llm = {"provider": "scripted", "name": "demo", "parameters": {"default": "Paris"}}
    files = {
        "test_classes.yaml": {"version": "1.0", "test_classes": classes},
        "tests.json": {"version": "1.0", "tests": tests},
        "llms.json": {"llms": [llm]},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return WorkspaceFolder(folder)


def make_items(runner: WorkspaceRunner, name: str, n_items: int) -> list[JudgeItem]:
    test = runner.workspace.tests_by_id[name]
    result = Result(llm_id="scripted:demo", test_id=name, score=0.0, response=ANSWERS[name])
    return [JudgeItem(result, test)] * n_items


def measure(runner: WorkspaceRunner, items: Sequence[JudgeItem]) -> tuple[float, float]:
    """Score items; wall time, and CPU time of this process with its scheduler, in seconds."""
    started, cpu_started = time.perf_counter(), time.process_time()
    scores = [done.outcome.score for done in runner.workforce.rescore(items, runner.scorer)]
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_started
    assert scores == [1.0] * len(items), f"wrong scores: {set(scores)}"
    return wall_s, cpu_s


def measure_bare(n_processes: int, n_programs: int) -> float:
    """Run the programs in plain processes, each on a core of its own; wall time in seconds."""
    n_each = str(n_programs // n_processes)
    started = time.perf_counter()
    processes = [
        subprocess.Popen([sys.executable, "-I", "-c", BARE, str(core), n_each])
        for core in sorted(os.sched_getaffinity(0))[:n_processes]
    ]
    assert [process.wait() for process in processes] == [0] * n_processes
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        config = write_workspace(Path(folder))
        runners = {"here": WorkspaceRunner(config)}
        lowest = describe_sandbox_terms().status.level
        for n_workers in (1, 2):
            opened = open_cluster(f"local:{n_workers}", config.workspace, lowest, tell=print)
            cluster = stack.enter_context(opened)
            runners[f"local:{n_workers}"] = WorkspaceRunner(config, cluster=cluster)
        print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
        for runner in runners.values():
            for name in CLASSES:
                measure(runner, make_items(runner, name, 128))  # evaluators and sandbox start
        compare(runners, options.answers, options.rounds)
        compare_runs(runners, options.answers, options.rounds)


def measure_run(runner: WorkspaceRunner, n_trials: int) -> float:
    """Ask and score trials; CPU time of this process and its children, in seconds."""
    plan = runner.plan(Selection(classes=("text",), trials=n_trials, force=True))
    before = count_cpu_s()
    finished = runner.run(plan)
    assert finished.n_scored == n_trials, finished
    return count_cpu_s() - before


def count_cpu_s() -> float:
    """CPU time of this process and of all that it started, so far."""
    this = psutil.Process()
    spent = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return sum(times.user + times.system for times in spent)


def compare_runs(runners: dict[str, WorkspaceRunner], n_trials: int, n_rounds: int) -> None:
    """Print what a trial costs beside a local run, in pairs."""
    cpus: dict[str, list[float]] = {}
    for _ in range(n_rounds):
        for place, runner in runners.items():
            cpus.setdefault(place, []).append(measure_run(runner, n_trials) / n_trials * 1000)
    for place, ms in cpus.items():
        print(f"trial {place:8} {statistics.median(ms):7.3f} ms of CPU in all processes")
    over = [there - here for there, here in zip(cpus["local:2"], cpus["here"], strict=True)]
    print(f"overhead of a trial: {statistics.median(over):.3f} ms of CPU (goal: at most 2)")


def compare(runners: dict[str, WorkspaceRunner], n_answers: int, n_rounds: int) -> None:
    walls: dict[tuple[str, str], list[float]] = {}
    cpus: dict[tuple[str, str], list[float]] = {}
    bare: list[float] = []
    for _ in range(n_rounds):
        bare.append(measure_bare(1, n_answers // 2) / measure_bare(2, n_answers // 2))
        for kind, n_items in (("text", n_answers), ("code", n_answers // 2)):
            for place, runner in runners.items():
                wall_s, cpu_s = measure(runner, make_items(runner, kind, n_items))
                cpus.setdefault((kind, place), []).append(cpu_s / n_items * 1000)
                walls.setdefault((kind, place), []).append(wall_s / n_items * 1000)
    per_item = {key: statistics.median(values) for key, values in walls.items()}
    for (kind, place), ms in per_item.items():
        cpu_ms = statistics.median(cpus[kind, place])
        print(f"{kind:5} {place:8} {ms:7.3f} ms per item, {cpu_ms:6.3f} ms of CPU in this process")
    print(f"Medians of {n_rounds} rounds.")
    over = [
        remote - here
        for remote, here in zip(walls["text", "local:1"], walls["text", "here"], strict=True)
    ]
    print(f"overhead in chunks: {statistics.median(over):.3f} ms per item (goal: at most 2)")
    gains = [
        one / two
        for one, two in zip(walls["code", "local:1"], walls["code", "local:2"], strict=True)
    ]
    print(f"scaling from 1 to 2 workers: {statistics.median(gains):.2f}x (goal: at least 1.8)")
    print(f"scaling from 1 to 2 bare processes: {statistics.median(bare):.2f}x")


if __name__ == "__main__":
    main()
