"""A program has at most 256 threads and processes in every set-up, and others keep theirs."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from poor_bench.sandbox import CaseEnd, Check, CheckEnd, Limits, Mechanism, Program, Sandbox
from poor_bench.sandbox.inside.descendants import Descendants
from poor_bench.sandbox.launchers import ZygoteLauncher
from poor_bench.sandbox.program_runs import open_candidate_session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these limits")

NAMESPACES = (Mechanism.BARE_ROOT, Mechanism.OWN_NETWORK, Mechanism.OWN_PROCESSES)
WATCHED = (Mechanism.RESOURCE_LIMITS, *NAMESPACES)
"""Without them the kernel limits nothing, as it does for root without rights and for other users
without a user namespace; so the zygote counts."""
WITHOUT = {
    "nothing missing": (),
    "no namespaces": NAMESPACES,
    "no file system of its own": (Mechanism.BARE_ROOT,),
    "no Landlock": (Mechanism.BARE_ROOT, Mechanism.FILE_RULES),
    "no seccomp and no namespaces": (Mechanism.SYSTEM_CALL_FILTER, *NAMESPACES),
    "watched": WATCHED,
    "watched in other processes' sight": (Mechanism.RESOURCE_LIMITS, Mechanism.BARE_ROOT),
    "watched in a root of its own": (Mechanism.RESOURCE_LIMITS,),
    "watched, no seccomp": (Mechanism.SYSTEM_CALL_FILTER, *WATCHED),
    "watched, nothing else": tuple(set(Mechanism) - {Mechanism.TASK_LIMIT}),
}
ROOT = Path(__file__).parents[2]
LIMITS = Limits(case_s=30.0, total_s=60.0)
THREADS = """
import _thread
_thread.stack_size(32768)

def f(wanted):
    lock = _thread.allocate_lock()
    lock.acquire()
    for number in range(wanted):
        try:
            _thread.start_new_thread(lock.acquire, ())
        except RuntimeError:
            return number
    if wanted > 256:
        lock.acquire(timeout=20)
    return wanted
"""
PROCESSES = """
import os, time

def f(wanted):
    for number in range(wanted):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
    return wanted
"""
TOLD = f"was killed: it had more than {LIMITS.tasks} threads and processes"
MANY_THREADS = Program(source=THREADS, function="f", limits=LIMITS)
MANY_PROCESSES = Program(source=PROCESSES, function="f", limits=LIMITS)


@pytest.fixture(scope="module", params=WITHOUT.values(), ids=WITHOUT.keys())
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    opened = sandbox_without(request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def watched() -> Iterator[Sandbox]:
    opened = sandbox_without(WATCHED)
    yield opened
    opened.close()


def sandbox_without(avoided: tuple[Mechanism, ...]) -> Sandbox:
    return Sandbox(partial(ZygoteLauncher, avoided=avoided))


@pytest.mark.slow(reason="starts a sandbox for each case")
def test_limit_is_in_force_in_every_set_up(sandbox: Sandbox) -> None:
    assert Mechanism.TASK_LIMIT not in sandbox.status().missing


@pytest.mark.slow(reason="starts a sandbox for each case")
def test_threads_beyond_the_limit_are_refused_or_end_the_program(sandbox: Sandbox) -> None:
    [bomb, after] = sandbox.run_cases(MANY_THREADS, [4 * LIMITS.tasks, 20]).cases
    if bomb.end is CaseEnd.RETURNED:
        assert 0 < bomb.value <= LIMITS.tasks
    else:
        assert (bomb.end, bomb.cause) == (CaseEnd.DIED, TOLD)
        assert after.value == 20
    [later] = sandbox.run_cases(MANY_THREADS, [20]).cases
    assert later.value == 20


def test_other_programs_are_unharmed_while_one_is_at_its_limit(watched: Sandbox) -> None:
    with (
        watched.launcher() as launcher,
        open_candidate_session(launcher, MANY_THREADS, [LIMITS.tasks - 1], math.inf) as session,
    ):
        session.load()
        assert session.run_case(0).value == LIMITS.tasks - 1
        other = sandbox_without(WATCHED)
        [meanwhile] = other.run_cases(MANY_THREADS, [200]).cases
        [killed, _] = other.run_cases(MANY_THREADS, [4 * LIMITS.tasks, 1]).cases
        other.close()
        assert meanwhile.value == 200
        assert killed.cause == TOLD


def test_checked_program_is_told_as_well(watched: Sandbox) -> None:
    check = Check(source=f"def check(candidate):\n    candidate({4 * LIMITS.tasks})\n")
    outcome = watched.run_check(MANY_THREADS, check)
    assert (outcome.end, outcome.cause) == (CheckEnd.DIED, TOLD)
    fine = Check(source="def check(candidate):\n    assert candidate(20) == 20\n")
    assert watched.run_check(MANY_THREADS, fine).end is CheckEnd.PASSED


@pytest.mark.slow(reason="starts a sandbox for each case")
def test_processes_are_counted_and_gone_where_nothing_else_keeps_them_apart() -> None:
    bare = sandbox_without(WITHOUT["watched, nothing else"])
    [bomb] = bare.run_cases(MANY_PROCESSES, [2 * LIMITS.tasks]).cases
    assert bomb.cause == TOLD
    [after] = bare.run_cases(MANY_THREADS, [20]).cases
    assert after.value == 20
    bare.close()


def test_watch_counts_descendants_and_leaves_out_children() -> None:
    watch = Descendants()
    others = {child.pid for child in psutil.Process().children()}  # sandboxes of other tests
    assert watch.count_tasks(1000, others) == 0
    program = "import os\nos.fork() and os.fork()\nos.write(1, b'.')\nos.read(0, 1)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as family:
        assert family.stdout is not None
        told = b""
        while told != b"...":
            heard = os.read(family.stdout.fileno(), 9)
            assert heard, "the family died"
            told += heard
        assert watch.count_tasks(1000, others) == 3
        assert watch.count_tasks(1000, {family.pid, *others}) == 0


CONFINED = f"""
from poor_bench.sandbox import Program, Sandbox
from poor_bench.sandbox.linux.namespaces import become_namespace_owner

become_namespace_owner()
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
sandbox = Sandbox()
print("task limit" in sandbox.status().missing)
program = Program(source={THREADS!r}, function="f")
print(sandbox.run_cases(program, [{4 * LIMITS.tasks}]).cases[0].cause)
sandbox.close()
"""


@pytest.mark.slow(reason="starts a sandbox for each case")
def test_limit_holds_where_nobody_may_have_a_user_namespace() -> None:
    """As in a container with one user: the kernel counts all that the user runs."""
    outcome = subprocess.run(
        [sys.executable, "-c", CONFINED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "unshare: " in outcome.stderr or "max_user_namespaces" in outcome.stderr:
        pytest.skip("no user namespaces here")
    assert outcome.stdout.splitlines() == ["False", TOLD], outcome.stderr
