"""The sandbox that all evaluators of this process share."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Sequence
from typing import Any

from poor_bench.sandbox.levels import Level, SandboxStatus
from poor_bench.sandbox.outcomes import CheckOutcome, ProgramOutcome
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.sandbox import Sandbox

_lock = threading.Lock()
_shared: list[Sandbox] = []


def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process; it ends with the process."""
    with _lock:
        if not _shared:
            _shared.append(Sandbox())
            atexit.register(_shared[0].close)
        return _shared[0]


def run_cases(program: Program, inputs: Sequence[Any]) -> ProgramOutcome:
    """Call a program's function once for each input; see `Sandbox.run_cases`."""
    return shared_sandbox().run_cases(program, inputs)


def run_check(program: Program, check: Check) -> CheckOutcome:
    """Check a program with a test; see `Sandbox.run_check`."""
    return shared_sandbox().run_check(program, check)


def sandbox_status() -> SandboxStatus:
    """Return what is in force on this machine; see `Sandbox.status`."""
    return shared_sandbox().status()


def require_level(level: Level) -> None:
    """Make sure that programs are locked in at least this well; see `Sandbox.require`."""
    shared_sandbox().require(level)
