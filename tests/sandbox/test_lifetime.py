"""The processes behind the sandbox: started when needed, never left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poor_bench.errors import SandboxError
from poor_bench.sandbox import CaseEnd, Check, CheckEnd, LoadEnd, Program, Sandbox, launchers
from poor_bench.sandbox.launchers import ZygoteLauncher, ZygoteProcess
from poor_bench.sandbox.program_runs import open_candidate_session

ROOT = Path(__file__).parents[2]
PLUS_ONE = Program(source="def f(x): return x + 1", function="f")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


def works(sandbox: Sandbox) -> bool:
    [case] = sandbox.run_cases(PLUS_ONE, [1]).cases
    return case.end is CaseEnd.RETURNED and case.value == 2


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in listed.split()]


def descendants(process: int) -> list[int]:
    found = children(process)
    return found + [deeper for child in found for deeper in descendants(child)]


def wait_for_end(process: int) -> bool:
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(handle):
        return bool(select.select([handle], [], [], 20)[0])


@linux_only
def test_dead_zygote_is_replaced() -> None:
    sandbox = Sandbox()
    before = set(children(os.getpid()))
    assert works(sandbox)
    [zygote] = set(children(os.getpid())) - before
    family = descendants(zygote)
    os.kill(zygote, signal.SIGKILL)
    assert all(wait_for_end(process) for process in family)
    assert works(sandbox)
    sandbox.close()
    assert set(children(os.getpid())) == before


@linux_only
def test_everything_ends_with_a_killed_parent() -> None:
    code = (
        "import os, time\nfrom poor_bench.sandbox import Program, run_cases\n"
        "run_cases(Program(source='def f(): return 1', function='f'), [[]])\n"
        "print(os.getpid(), flush=True)\ninput()\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        family = descendants(parent.pid)
        parent.kill()
        assert family
        assert all(wait_for_end(process) for process in family)


@linux_only
def test_programs_are_gone_when_their_run_returns() -> None:
    sandbox = Sandbox()
    before = set(children(os.getpid()))
    assert works(sandbox)
    [zygote] = set(children(os.getpid())) - before
    waiting = descendants(zygote)
    source = "import threading, time\ndef f():\n    threading.Thread(target=time.sleep, args=(60,))"
    sandbox.run_cases(Program(source=f"{source}.start()", function="f"), [[]])
    assert len(descendants(zygote)) <= len(waiting)
    sandbox.close()


def test_closed_sandbox_starts_again() -> None:
    sandbox = Sandbox()
    assert works(sandbox)
    sandbox.close()
    assert works(sandbox)
    sandbox.close()
    sandbox.close()


def test_zygote_that_does_not_start_is_an_error_with_what_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def command(*_arguments: str) -> list[str]:
        return [sys.executable, "-c", "raise SystemExit('no such luck')"]

    monkeypatch.setattr(launchers, "build_interpreter_command", command)
    with pytest.raises(SandboxError, match="no such luck"):
        ZygoteProcess(0, ())


def test_zygote_that_keeps_ending_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise BrokenPipeError

    launcher = ZygoteLauncher(0)
    monkeypatch.setattr(ZygoteProcess, "request", refuse)
    with pytest.raises(SandboxError, match="keeps ending"):
        launcher.launch()
    launcher.close()


@linux_only
def test_zygote_that_dies_under_a_program_is_a_failure_of_ours() -> None:
    before = set(children(os.getpid()))
    launcher = ZygoteLauncher(min(os.sched_getaffinity(0)))
    deadline = time.monotonic() + 20

    def lose_zygote() -> None:
        with open_candidate_session(launcher, PLUS_ONE, [1], deadline) as session:
            assert session.load().end is LoadEnd.LOADED
            [zygote] = set(children(os.getpid())) - before
            family = descendants(zygote)
            os.kill(zygote, signal.SIGKILL)
            assert all(wait_for_end(process) for process in family)
            session.run_case(0)

    with pytest.raises(SandboxError, match="ended"):
        lose_zygote()
    launcher.close()


@linux_only
def test_sandbox_can_be_closed_after_its_zygote_died() -> None:
    sandbox = Sandbox()
    before = set(children(os.getpid()))
    test = Check(source="def check(candidate): assert candidate(1) == 2")
    assert sandbox.run_check(PLUS_ONE, test).end is CheckEnd.PASSED
    [zygote] = set(children(os.getpid())) - before
    os.kill(zygote, signal.SIGKILL)
    sandbox.close()
    assert set(children(os.getpid())) == before
    assert works(sandbox)
    sandbox.close()
