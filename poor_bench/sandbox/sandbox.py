"""Runs candidate code; the one object that the rest of the package needs."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.sandbox.case_run import CaseRun
from poor_bench.sandbox.check_run import CheckRun
from poor_bench.sandbox.host.child_process import Launcher
from poor_bench.sandbox.host.stations import Stations
from poor_bench.sandbox.levels import Level, SandboxStatus, status_of
from poor_bench.sandbox.outcomes import CheckOutcome, ProgramOutcome
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.wire.plain import require_plain


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
        self._stations = Stations(make_launcher or best_launcher)

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
            EncodeError: If the inputs are no plain data, or larger than what can be sent.
        """
        with self._stations.take() as station:
            return CaseRun(station.launcher, program, require_plain(list(inputs))).run()

    def run_check(self, program: Program, check: Check) -> CheckOutcome:
        """Check a program with a test that lives in another process.

        Raises:
            SandboxError: If processes cannot be started or locked in.
            EncodeError: If program or test are larger than what can be sent.
        """
        with self._stations.take() as station:
            return CheckRun(station, program, check).run()

    def status(self) -> SandboxStatus:
        """Return what is in force on this machine.

        Raises:
            SandboxError: If processes cannot be started.
        """
        with self.launcher() as launcher:
            return status_of(launcher.missing())

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
        self._stations.close()

    @contextmanager
    def launcher(self) -> Iterator[Launcher]:
        """Have what starts processes; nothing else uses it meanwhile."""
        with self._stations.take() as station:
            yield station.launcher


def best_launcher(processor: int) -> Launcher:
    """Return the best way of this system to start processes for a processor."""
    if hasattr(os, "fork") and hasattr(socket, "recv_fds"):
        from poor_bench.sandbox.host.zygote_launcher import ZygoteLauncher

        return ZygoteLauncher(processor)
    from poor_bench.sandbox.host.pipe_launcher import PipeLauncher

    return PipeLauncher()
