"""Run candidate code: the class `Sandbox`, and the one that all evaluators of this process share.

The shared one refuses to run code of models below a level of isolation.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from poor_bench.errors import ConfigError, SandboxError
from poor_bench.sandbox.children import Launcher
from poor_bench.sandbox.levels import (
    USUAL_LEVEL,
    Level,
    SandboxStatus,
    SandboxTerms,
    grade_isolation,
)
from poor_bench.sandbox.plain import require_plain
from poor_bench.sandbox.program import Check, CheckOutcome, Program, ProgramOutcome
from poor_bench.sandbox.program_runs import CaseRun, CheckRun
from poor_bench.sandbox.workers import SandboxWorkers


class Sandbox:
    """Runs programs of unknown intent, each in processes of its own.

    Used from many threads. At most as many programs run at once as there are processors, so that
    none runs out of time because of the others; further ones wait.
    """

    def __init__(self, make_launcher: Callable[[int], Launcher] | None = None) -> None:
        """Prepare; processes are started when they are first needed.

        Args:
            make_launcher: From the number of a processor to how processes are started for it; the
                best way of this system where None.
        """
        if make_launcher is None:
            from poor_bench.sandbox.launchers import pick_launcher

            make_launcher = pick_launcher
        self._workers = SandboxWorkers(make_launcher)

    def run_cases(self, program: Program, inputs: Sequence[Any]) -> ProgramOutcome:
        """Call a program's function once for each input.

        The program gets inputs only, and sends back what the function returns: right answers are
        compared with that here, and are never in its reach.

        Args:
            program: What to run.
            inputs: A list is passed as positional arguments, a dict as keyword arguments, anything
                else as one argument; a list or dict that fits the function's signature only as
                one argument is passed as one. Plain data: None, bool, int, float, complex, str,
                bytes, list, tuple, set, frozenset, dict.

        Returns:
            One outcome per input, whatever the program does.

        Raises:
            SandboxError: If processes cannot be started or locked in.
            EncodeError: If the inputs are not plain data, or larger than what can be sent.
        """
        with self._workers.take() as worker:
            return CaseRun(worker.launcher, program, require_plain(list(inputs))).run()

    def run_check(self, program: Program, check: Check) -> CheckOutcome:
        """Check a program with a test that lives in another process.

        Raises:
            SandboxError: If processes cannot be started or locked in.
            EncodeError: If program or test are larger than what can be sent.
        """
        with self._workers.take() as worker:
            return CheckRun(worker, program, check).run()

    def status(self) -> SandboxStatus:
        """Find out what is in force on this machine.

        Raises:
            SandboxError: If processes cannot be started.
        """
        with self.launcher() as launcher:
            return grade_isolation(launcher.missing())

    def require(self, level: Level) -> None:
        """Make sure that programs are locked in at least this well.

        Raises:
            ConfigError: If they are not; the message says what is missing and why.
            SandboxError: If processes cannot be started.
        """
        status = self.status()
        if status.level >= level:
            return
        reasons = "; ".join(f"no {name}: {why}" for name, why in status.missing.items())
        raise ConfigError(
            f"sandbox level {level.label} is required, but only {status.level.label} is in force "
            f"({reasons})",
            hint=f"ask for level {status.level.label}, or run on a system that has what is missing",
        )

    def close(self) -> None:
        """End all processes; a later run starts new ones."""
        self._workers.close()

    @contextmanager
    def launcher(self) -> Iterator[Launcher]:
        """Use what starts processes; nothing else uses it meanwhile."""
        with self._workers.take() as worker:
            yield worker.launcher


_lock = threading.Lock()
_shared: list[Sandbox] = []
_known: dict[Sandbox, SandboxStatus] = {}
_accepted: dict[str, Level] = {}
_levels_used: ContextVar[list[Level] | None] = ContextVar("levels_used", default=None)
_runs_own_code: ContextVar[bool] = ContextVar("runs_own_code", default=False)


def open_shared_sandbox() -> Sandbox:
    """Open the sandbox of this process, once; it ends with the process."""
    with _lock:
        if not _shared:
            _shared.append(Sandbox())
            atexit.register(_shared[0].close)
        return _shared[0]


def run_cases(program: Program, inputs: Sequence[Any]) -> ProgramOutcome:
    """Call a program's function once for each input; see `Sandbox.run_cases`.

    Raises as that does, and SandboxError below the level that was accepted.
    """
    return _require_sandbox().run_cases(program, inputs)


def run_check(program: Program, check: Check) -> CheckOutcome:
    """Check a program with a test; see `Sandbox.run_check`.

    Raises as that does, and SandboxError below the level that was accepted.
    """
    return _require_sandbox().run_check(program, check)


def find_sandbox_status() -> SandboxStatus:
    """Find out what is in force on this machine, once; see `Sandbox.status`."""
    sandbox = open_shared_sandbox()
    if sandbox not in _known:
        _known[sandbox] = sandbox.status()
    return _known[sandbox]


def require_level(level: Level) -> None:
    """Make sure that programs are locked in at least this well; see `Sandbox.require`."""
    open_shared_sandbox().require(level)


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


def describe_sandbox_terms() -> SandboxTerms:
    """Find out how well programs are locked in here, and how well they have to be.

    Raises:
        SandboxError: If processes cannot be started.
    """
    return SandboxTerms(
        status=find_sandbox_status(), lowest=find_lowest_level(), is_chosen=bool(_accepted)
    )


def find_lowest_level() -> Level:
    """Lowest level at which code of models may run, wherever it runs."""
    return _accepted.get("person", _accepted.get("workspace", USUAL_LEVEL))


@contextmanager
def note_levels() -> Iterator[list[Level]]:
    """Note at which level each program ran that the body starts in this thread."""
    levels: list[Level] = []
    token = _levels_used.set(levels)
    try:
        yield levels
    finally:
        _levels_used.reset(token)


@contextmanager
def trust_own_code() -> Iterator[None]:
    """Run programs at any level: they were written by the tests' author, not by a model."""
    token = _runs_own_code.set(True)
    try:
        yield
    finally:
        _runs_own_code.reset(token)


def _require_sandbox() -> Sandbox:
    """Check that the shared sandbox locks programs in well enough, and use it.

    Raises:
        SandboxError: If it locks programs in less well than was accepted.
    """
    terms = describe_sandbox_terms()
    if terms.is_refused and not _runs_own_code.get():
        raise SandboxError(f"{terms.refusal}: {terms.fix}")
    used = _levels_used.get()
    if used is not None:
        used.append(terms.status.level)
    return open_shared_sandbox()
