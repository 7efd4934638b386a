"""How well candidate code is locked in on this machine, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Mechanism(StrEnum):
    """One of the mechanisms that the sandbox is made of."""

    # CPU time, memory, size of files and number of open files are limited by the kernel
    RESOURCE_LIMITS = "resource limits"
    # the kernel refuses further threads and processes once a program has its share, or a program
    # that has more is killed at once
    TASK_LIMIT = "task limit"
    # seccomp: no new processes or programs, no sockets, no signals to others
    SYSTEM_CALL_FILTER = "system call filter"
    # Landlock: nothing outside the scratch folder and Python's own files can be opened
    FILE_RULES = "file rules"
    # a mount namespace in which only Python's own files exist, all of them read-only
    BARE_ROOT = "bare root"
    # a network namespace without any interface, not even loopback, and an ipc namespace
    OWN_NETWORK = "own network"
    # a pid namespace per program: others are out of sight, and all of it dies at once
    OWN_PROCESSES = "own processes"


class Level(IntEnum):
    """Degrees of isolation, in order; each includes the ones below."""

    NONE = 0  # asks for nothing
    PROCESS = 1  # a process of its own, empty environment, scratch folder, ended in time
    LIMITS = 2  # CPU, memory and files limited by the kernel
    ISOLATED = 3  # no network, other files, signals or surviving processes; each closed once
    FULL = 4  # every mechanism is in force: all that `ISOLATED` promises holds twice

    @property
    def label(self) -> str:
        """The name that users read and write."""
        return self.name.lower()


class SandboxStatus(NamedTuple):
    """What is in force on this machine.

    Attributes:
        level: The level that follows from it.
        missing: Each mechanism that is not in force, and why.
    """

    level: Level
    missing: Mapping[Mechanism, str]


# below this level, code of models runs only where somebody has accepted it
USUAL_LEVEL = Level.ISOLATED


class SandboxTerms(NamedTuple):
    """How well programs are locked in, and how well they have to be.

    Attributes:
        status: What is in force on this machine.
        lowest: The lowest level at which code of models is run.
        is_chosen: Somebody chose that level.
    """

    status: SandboxStatus
    lowest: Level
    is_chosen: bool

    @property
    def is_refused(self) -> bool:
        """True if code of models is not run here."""
        return self.status.level < self.lowest

    @property
    def refusal(self) -> str:
        """Why code of models is not run here."""
        found = describe_weakness(self.status) or f"sandbox level {self.status.level.label} only"
        return f"{found}; level {self.lowest.label} is required, so code of models is not run"

    @property
    def fix(self) -> str:
        """What to do about it."""
        level = self.status.level.label
        return (
            "run in a container on Linux (see docs/security.md), or accept the risk: "
            f"--sandbox {level}, or `sandbox: {level}` in config.yaml"
        )


def describe_weakness(status: SandboxStatus) -> str:
    """Describe how weak a sandbox is; empty from `USUAL_LEVEL` on.

    Example:
        >>> describe_weakness(SandboxStatus(Level.LIMITS, {Mechanism.BARE_ROOT: "not here"}))
        'sandbox level limits only: code can read and change your files (missing: bare root)'
    """
    if status.level >= USUAL_LEVEL:
        return ""
    is_closed = {Mechanism.FILE_RULES, Mechanism.BARE_ROOT} - status.missing.keys()
    reach = "start programs and use the network" if is_closed else "read and change your files"
    missing = ", ".join(status.missing)
    return f"sandbox level {status.level.label} only: code can {reach} (missing: {missing})"


def grade_isolation(missing: Mapping[Mechanism, str]) -> SandboxStatus:
    """Find the level that is left without some mechanisms."""
    return SandboxStatus(level=_find_level_without(frozenset(missing)), missing=missing)


def _find_level_without(missing: frozenset[Mechanism]) -> Level:
    if Mechanism.RESOURCE_LIMITS in missing:
        return Level.PROCESS
    if Mechanism.SYSTEM_CALL_FILTER in missing:
        return Level.LIMITS
    if {Mechanism.FILE_RULES, Mechanism.BARE_ROOT} <= missing:
        return Level.LIMITS
    return Level.ISOLATED if missing else Level.FULL


def parse_level(name: str) -> Level:
    """Find the level of a name such as `isolated`.

    Raises:
        ValueError: If no level has that name; the message lists them.
    """
    levels = {level.label: level for level in Level}
    level = levels.get(name.strip().lower())
    if level is None:
        raise ValueError(f"sandbox level {name!r} does not exist; levels: {', '.join(levels)}")
    return level
