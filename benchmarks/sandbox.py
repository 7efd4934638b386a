"""What isolation costs: programs per second in the sandbox against a bare fork per program.

    python benchmarks/sandbox.py
    python benchmarks/sandbox.py --humaneval HumanEval.jsonl.gz

Two workers each, in turns within one run, because machines are noisy and differ. The bare fork is
the least that a harness can do: a child of a warm parent runs program and test together, without
output, and sends one byte if they passed; the parent waits for it no longer than a time limit.
Nothing is isolated or limited otherwise. There are two such parents: this process, in which
poor_bench is loaded and two threads fork, as an evaluator without a sandbox would do; and, as the
limit of what can be had, two processes each that hold an interpreter and nothing else. Ours runs
the same with all that is in force here.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.sandbox_programs import SETUP, programs

N_WORKERS = 2
TIME_LIMIT_S = 10.0
WARM = "typing math re collections itertools functools heapq copy string random hashlib datetime"


@dataclass(frozen=True)
class Problem:
    setup: str
    solution: str
    test: str
    function: str


def own_problems(number: int) -> list[Problem]:
    return [Problem(SETUP, own.solution, own.test, own.function) for own in programs(number)]


def humaneval_problems(path: Path) -> list[Problem]:
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    problems = []
    for row in rows:
        start = row["prompt"].index(f"def {row['entry_point']}(")
        solution = row["prompt"][start:] + row["canonical_solution"]
        problems.append(Problem(row["prompt"][:start], solution, row["test"], row["entry_point"]))
    return problems


def fork_bare(problem: Problem) -> bool:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        run_bare(problem, writing)
    os.close(writing)
    in_time = select.select([reading], [], [], TIME_LIMIT_S)[0]
    passed = bool(in_time) and os.read(reading, 1) == b"+"
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return passed


def run_bare(problem: Problem, verdict: int) -> NoReturn:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    source = f"{problem.setup}\n{problem.solution}\n{problem.test}\ncheck({problem.function})"
    try:
        exec(source, {})
        os.write(verdict, b"+")
    finally:
        os._exit(0)


def bare_passes(problems: Sequence[Problem]) -> bool:
    """Run all problems in workers that take one after the other from a pipe."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(index.to_bytes(2, "big") for index in range(len(problems))))
    os.close(writing)
    workers = []
    for _ in range(N_WORKERS):
        worker = os.fork()
        if worker == 0:
            passed = True
            while index := os.read(reading, 2):
                passed &= fork_bare(problems[int.from_bytes(index, "big")])
            os._exit(0 if passed else 1)
        workers.append(worker)
    os.close(reading)
    return all(os.waitpid(worker, 0)[1] == 0 for worker in workers)


def print_bare_seconds() -> None:
    """Run the problems that come over stdin, as a process that has done nothing else."""
    for name in WARM.split():
        importlib.import_module(name)
    problems = [Problem(**fields) for fields in json.load(sys.stdin)]
    start = time.perf_counter()
    assert bare_passes(problems)
    print(time.perf_counter() - start)


def bare_seconds(problems: Sequence[Problem]) -> float:
    command = [sys.executable, __file__, "--bare"]
    content = json.dumps([asdict(problem) for problem in problems])
    return float(
        subprocess.run(command, input=content, capture_output=True, check=True, text=True).stdout
    )


def forking_here_seconds(problems: Sequence[Problem]) -> float:
    start = time.perf_counter()
    with ThreadPoolExecutor(N_WORKERS) as workers:
        assert all(workers.map(fork_bare, problems))
    return time.perf_counter() - start


def sandbox_seconds(problems: Sequence[Problem]) -> float:
    from poor_bench.sandbox import Check, CheckEnd, Program, run_check

    def passes(problem: Problem) -> bool:
        program = Program(source=problem.solution, function=problem.function, setup=problem.setup)
        outcome = run_check(program, Check(source=problem.test, setup=problem.setup))
        return outcome.end is CheckEnd.PASSED

    start = time.perf_counter()
    with ThreadPoolExecutor(N_WORKERS) as workers:
        assert all(workers.map(passes, problems))
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--humaneval", type=Path, help="the real file instead of own programs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        print_bare_seconds()
        return
    from poor_bench.sandbox import find_sandbox_status

    problems = humaneval_problems(options.humaneval) if options.humaneval else own_problems(320)
    print(
        f"{len(problems)} programs, {N_WORKERS} workers, level {find_sandbox_status().level.label}"
    )
    sandbox_seconds(problems)  # starts what is started once
    importlib.import_module("poor_bench.workspace_runner")
    here, lean, ours = [], [], []
    for number in range(options.rounds):
        here.append(forking_here_seconds(problems))
        lean.append(bare_seconds(problems))
        ours.append(sandbox_seconds(problems))
        print(
            f"round {number + 1}: forking here {len(problems) / here[-1]:4.0f}/s, "
            f"forking lean processes {len(problems) / lean[-1]:4.0f}/s, "
            f"sandbox {len(problems) / ours[-1]:4.0f}/s"
        )
    for name, bare in (("forking here", here), ("forking lean processes", lean)):
        best, in_all = min(bare) / min(ours), sum(bare) / sum(ours)
        print(f"sandbox against {name}: best of each {best:.2f}, in all {in_all:.2f} (goal 0.70)")


if __name__ == "__main__":
    main()
