"""Giving up for good what a process could use against others."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import SystemCall

_CAPABILITIES_HEADER = Struct("=II").pack(0x2008_0522, 0)
"""Version 3; this process."""
_CAPABILITIES = Struct("=6I")
"""Effective, permitted and inheritable ones below 32, then those above."""
_READ_ALL = 1 << 2
"""CAP_DAC_READ_SEARCH: the rights of files do not keep this process from reading them."""
_SIGKILL = 9


class OtherUser(NamedTuple):
    """Whom a process of root becomes.

    The kernel keeps no limit on the tasks of root, even without capabilities.
    """

    number: int
    reads_all: bool = False
    """Keeps root's right to read all files: for a Python that only root may read."""


def forbid_new_privileges() -> None:
    """Make sure that nothing this process or its children start gains privileges.

    They are hidden from debuggers of the same user as well, and leave no core files.

    Raises:
        OSError: If the kernel does not allow it.
    """
    libc.system_call("prctl", libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.system_call("prctl", libc.PR_SET_DUMPABLE, 0)


def giving_up_privileges(user: OtherUser | None) -> list[SystemCall]:
    """Return the calls with which a process gives up all capabilities; see capset(2).

    Args:
        user: Whom it becomes before; None for who it is.
    """
    if user is None:
        return [_keeping_capabilities(0)]
    becoming = SystemCall("setresuid", (user.number,) * 3)
    if not user.reads_all:
        return [becoming, _keeping_capabilities(0)]
    keeping = SystemCall("prctl", (libc.PR_SET_KEEPCAPS, 1))
    return [keeping, becoming, _keeping_capabilities(_READ_ALL)]


def _keeping_capabilities(kept: int) -> SystemCall:
    content = _CAPABILITIES.pack(kept, kept, 0, 0, 0, 0)
    return SystemCall("capset", (_CAPABILITIES_HEADER, content))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent's thread that started it ends."""
    libc.system_call("prctl", libc.PR_SET_PDEATHSIG, _SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    libc.system_call("prctl", libc.PR_SET_CHILD_SUBREAPER, 1)
