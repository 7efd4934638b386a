"""How well candidate code is locked in on this machine, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Mechanism(StrEnum):
    """One wall of the sandbox."""

    RESOURCE_LIMITS = "resource limits"
    """CPU time, memory, size of files and number of open files are limited by the kernel."""
    TASK_LIMIT = "task limit"
    """The kernel refuses further threads and processes once a program has its share, or a program
    that has more is killed at once."""
    SYSTEM_CALL_FILTER = "system call filter"
    """seccomp: no new processes or programs, no sockets, no signals to others."""
    FILE_RULES = "file rules"
    """Landlock: nothing outside the scratch folder and Python's own files can be opened."""
    BARE_ROOT = "bare root"
    """A mount namespace in which only Python's own files exist, all of them read-only."""
    OWN_NETWORK = "own network"
    """A network namespace without any interface, not even loopback, and an ipc namespace."""
    OWN_PROCESSES = "own processes"
    """A pid namespace per program: others are out of sight, and all of it dies at once."""


class Level(IntEnum):
    """Degrees of isolation, in order; each includes the ones below."""

    NONE = 0
    """Asks for nothing."""
    PROCESS = 1
    """A process of its own with an empty environment and a scratch folder, ended in time."""
    LIMITS = 2
    """CPU, memory and files limited by the kernel."""
    ISOLATED = 3
    """No network, no other files, no signals, no surviving processes; each by one wall at least."""
    FULL = 4
    """Every wall stands: all that `ISOLATED` promises holds twice."""

    @property
    def label(self) -> str:
        """The name that users read and write."""
        return self.name.lower()


class SandboxStatus(NamedTuple):
    """What is in force on this machine."""

    level: Level
    missing: Mapping[Mechanism, str]
    """Each mechanism that is not in force, and why."""


USUAL_LEVEL = Level.ISOLATED
"""Below this level, code of models runs only where somebody has accepted it."""


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
        found = weakness_of(self.status) or f"sandbox level {self.status.level.label} only"
        return f"{found}; level {self.lowest.label} is required, so code of models is not run"

    @property
    def way_out(self) -> str:
        """What to do about it."""
        level = self.status.level.label
        return (
            "run in a container on Linux (see docs/security.md), or accept the risk: "
            f"--sandbox {level}, or `sandbox: {level}` in config.yaml"
        )


def weakness_of(status: SandboxStatus) -> str:
    """Say how weak a sandbox is; empty from `USUAL_LEVEL` on.

    Example:
        >>> weakness_of(SandboxStatus(Level.LIMITS, {Mechanism.BARE_ROOT: "not here"}))
        'sandbox level limits only: code can read and change your files (missing: bare root)'
    """
    if status.level >= USUAL_LEVEL:
        return ""
    is_closed = {Mechanism.FILE_RULES, Mechanism.BARE_ROOT} - status.missing.keys()
    reach = "start programs and use the network" if is_closed else "read and change your files"
    missing = ", ".join(status.missing)
    return f"sandbox level {status.level.label} only: code can {reach} (missing: {missing})"


def status_of(missing: Mapping[Mechanism, str]) -> SandboxStatus:
    """Return the level that is left without some mechanisms."""
    return SandboxStatus(level=_level_without(frozenset(missing)), missing=missing)


def _level_without(missing: frozenset[Mechanism]) -> Level:
    if Mechanism.RESOURCE_LIMITS in missing:
        return Level.PROCESS
    if Mechanism.SYSTEM_CALL_FILTER in missing:
        return Level.LIMITS
    if {Mechanism.FILE_RULES, Mechanism.BARE_ROOT} <= missing:
        return Level.LIMITS
    return Level.ISOLATED if missing else Level.FULL


def parse_level(name: str) -> Level:
    """Return the level of a name such as `isolated`.

    Raises:
        ValueError: If there is none of that name; the message lists them.
    """
    for level in Level:
        if level.label == name.strip().lower():
            return level
    known = ", ".join(level.label for level in Level)
    raise ValueError(f"there is no sandbox level {name!r}; there are {known}")
