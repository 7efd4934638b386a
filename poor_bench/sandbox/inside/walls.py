"""A child's own walls, put up before it sees any candidate code.

What can be done in advance is done in the zygote: all that a child does costs time for every
program, above all through the memory that it touches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from poor_bench.sandbox.inside.descriptors import RULESET
from poor_bench.sandbox.inside.resource_limits import limit_resources, require_memory_limit
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.linux import landlock, privileges, root_filesystem, seccomp
from poor_bench.sandbox.wire.encoding import decode_trusted, encode

_DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom")
_FIRST_IN_NAMESPACE = 1
"""Process id of a child that has a pid namespace of its own."""



class Cell(NamedTuple):
    """What one child gets.

    Attributes:
        limits: What it may use.
        cpu_s: CPU seconds after which the kernel ends it.
        folder: The folder in which it may do as it likes.
    """

    limits: Limits
    cpu_s: int
    folder: str


_Step = Callable[[Cell], None]
"""Raises OSError if it cannot be done."""


class Walls:
    """The walls of this machine.

    Attributes:
        missing: Mechanisms to leave out, and why.
    """

    def __init__(self, missing: dict[Mechanism, str], readable: Sequence[str]) -> None:
        """Take note of what there is.

        Args:
            missing: Mechanisms to leave out, and why.
            readable: Files and folders that children may read.
        """
        self.missing = missing
        self._readable = (*readable, *_DEVICES)
        self._has_ruleset = False
        self._steps: list[_Step] = []

    def prepare(self) -> None:
        """Find out which walls stand, and do in advance what need not be done in every child."""
        self._try_out()
        if self._stands(Mechanism.FILE_RULES) and self._stands(Mechanism.BARE_ROOT):
            ruleset = self._make_ruleset(root_filesystem.SCRATCH_PARENT)
            os.dup2(ruleset, RULESET)
            os.close(ruleset)
            self._has_ruleset = True
        if self._stands(Mechanism.SYSTEM_CALL_FILTER):
            seccomp.filter_forking_process()
            seccomp.prepare_child_filter(_FIRST_IN_NAMESPACE)
        self._steps = [step for _, step in self._standing_steps()]

    def put_up(self, limits: Limits, cpu_s: int, scratch: str | None) -> None:
        """Lock this process in for good, in its scratch folder.

        Args:
            limits: What it may use.
            cpu_s: CPU seconds after which the kernel ends it.
            scratch: The folder in which it may do as it likes; None for a file system of its own.

        Raises:
            OSError: If a wall that stood when it was tried out does not.
        """
        cell = Cell(limits, cpu_s, root_filesystem.SCRATCH if scratch is None else scratch)
        for step in self._steps:
            step(cell)

    def _stands(self, mechanism: Mechanism | None) -> bool:
        return mechanism not in self.missing

    def _standing_steps(self) -> list[tuple[Mechanism | None, _Step]]:
        """Return what to do, in order; steps without a mechanism are taken on every machine."""
        everywhere: list[tuple[Mechanism | None, _Step]] = [
            (None, _enter_folder),
            (Mechanism.RESOURCE_LIMITS, self._limit_resources),
        ]
        on_linux: list[tuple[Mechanism | None, _Step]] = [
            (Mechanism.BARE_ROOT, _make_folder),
            *everywhere,
            (None, _drop_capabilities),
            (Mechanism.FILE_RULES, self._restrict_files),
            (Mechanism.SYSTEM_CALL_FILTER, _filter_calls),
        ]
        steps = on_linux if sys.platform == "linux" else everywhere
        return [(mechanism, step) for mechanism, step in steps if self._stands(mechanism)]

    def _try_out(self) -> None:
        """Try in a child which walls cannot be put up, and leave them out from now on."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, encode(self._reasons()))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as report:
            reasons = decode_trusted(report.read())
        os.waitpid(child, 0)
        self.missing.update({Mechanism(name): reason for name, reason in reasons.items()})

    def _reasons(self) -> dict[str, str]:
        """Put up every wall that can be; return why the others cannot."""
        limits = Limits()
        folder = root_filesystem.SCRATCH if self._stands(Mechanism.BARE_ROOT) else os.curdir
        cell = Cell(limits, limits.cpu_s, folder)
        steps = self._standing_steps()
        if self._stands(Mechanism.RESOURCE_LIMITS):
            steps.append((Mechanism.RESOURCE_LIMITS, _require_memory_limit))
        if self._stands(Mechanism.SYSTEM_CALL_FILTER):
            steps.insert(0, (Mechanism.SYSTEM_CALL_FILTER, _filter_calls_of_zygote))
        reasons: dict[str, str] = {}
        for mechanism, step in steps:
            try:
                step(cell)
            except OSError as error:
                reasons[mechanism or Mechanism.RESOURCE_LIMITS] = error.strerror or str(error)
        return reasons

    def _limit_resources(self, cell: Cell) -> None:
        may_fork = not self._stands(Mechanism.SYSTEM_CALL_FILTER)
        limit_resources(cell.limits, cell.cpu_s, may_fork=may_fork)

    def _restrict_files(self, cell: Cell) -> None:
        ruleset = RULESET if self._has_ruleset else self._make_ruleset(cell.folder)
        landlock.restrict_self(ruleset)
        os.close(ruleset)

    def _make_ruleset(self, usable: str) -> int:
        return landlock.make_ruleset(self._readable, (usable, os.devnull))


def _make_folder(cell: Cell) -> None:
    root_filesystem.enter_private_scratch(cell.limits.scratch_bytes)


def _enter_folder(cell: Cell) -> None:
    os.chdir(cell.folder)


def _drop_capabilities(_cell: Cell) -> None:
    privileges.drop_capabilities()


def _filter_calls(_cell: Cell) -> None:
    seccomp.filter_child()


def _filter_calls_of_zygote(_cell: Cell) -> None:
    seccomp.filter_forking_process()


def _require_memory_limit(cell: Cell) -> None:
    require_memory_limit(cell.limits)
