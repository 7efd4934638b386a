"""The sandbox that all evaluators of this process share, and below which level it runs nothing."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.levels import USUAL_LEVEL, Level, SandboxStatus, SandboxTerms
from poor_bench.sandbox.outcomes import CheckOutcome, ProgramOutcome
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.sandbox import Sandbox

_lock = threading.Lock()
_shared: list[Sandbox] = []
_known: dict[Sandbox, SandboxStatus] = {}
_accepted: dict[str, Level] = {}
_levels_used: ContextVar[list[Level] | None] = ContextVar("levels_used", default=None)
_runs_own_code: ContextVar[bool] = ContextVar("runs_own_code", default=False)


def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process; it ends with the process."""
    with _lock:
        if not _shared:
            _shared.append(Sandbox())
            atexit.register(_shared[0].close)
        return _shared[0]


def run_cases(program: Program, inputs: Sequence[Any]) -> ProgramOutcome:
    """Call a program's function once for each input; see `Sandbox.run_cases`.

    Raises as that does, and SandboxError below the level that was accepted.
    """
    return _accepted_sandbox().run_cases(program, inputs)


def run_check(program: Program, check: Check) -> CheckOutcome:
    """Check a program with a test; see `Sandbox.run_check`.

    Raises as that does, and SandboxError below the level that was accepted.
    """
    return _accepted_sandbox().run_check(program, check)


def sandbox_status() -> SandboxStatus:
    """Return what is in force on this machine; see `Sandbox.status`."""
    sandbox = shared_sandbox()
    if sandbox not in _known:
        _known[sandbox] = sandbox.status()
    return _known[sandbox]


def require_level(level: Level) -> None:
    """Make sure that programs are locked in at least this well; see `Sandbox.require`."""
    shared_sandbox().require(level)


def accept_level(level: Level | None, *, by_workspace: bool = False) -> None:
    """Let programs run in this process from a level of isolation on, and not below.

    Args:
        level: The lowest one; None takes back what was said before.
        by_workspace: The workspace says so, and a person may say otherwise.
    """
    who = "workspace" if by_workspace else "person"
    _accepted.pop(who, None)
    if level is not None:
        _accepted[who] = level


def sandbox_terms() -> SandboxTerms:
    """Return how well programs are locked in here, and how well they have to be.

    Raises:
        SandboxError: If processes cannot be started.
    """
    chosen = _accepted.get("person", _accepted.get("workspace"))
    return SandboxTerms(
        status=sandbox_status(),
        lowest=USUAL_LEVEL if chosen is None else chosen,
        is_chosen=chosen is not None,
    )


@contextmanager
def noting_levels() -> Iterator[list[Level]]:
    """Note at which level each program ran that the body starts in this thread."""
    levels: list[Level] = []
    token = _levels_used.set(levels)
    try:
        yield levels
    finally:
        _levels_used.reset(token)


@contextmanager
def running_own_code() -> Iterator[None]:
    """Run programs at any level: they were written by the tests' author, not by a model."""
    token = _runs_own_code.set(True)
    try:
        yield
    finally:
        _runs_own_code.reset(token)


def _accepted_sandbox() -> Sandbox:
    """Return the shared sandbox.

    Raises:
        SandboxError: If it locks programs in less well than was accepted.
    """
    terms = sandbox_terms()
    if terms.is_refused and not _runs_own_code.get():
        raise SandboxError(f"{terms.refusal}: {terms.way_out}", kind=FailureKind.SANDBOX)
    used = _levels_used.get()
    if used is not None:
        used.append(terms.status.level)
    return shared_sandbox()
