"""Giving up for good what a process could use against others."""

from __future__ import annotations

from struct import Struct

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import SystemCall

_CAPABILITIES_HEADER = Struct("=II").pack(0x2008_0522, 0)
"""Version 3; this process."""
_NO_CAPABILITIES = bytes(24)
_SIGKILL = 9


def forbid_new_privileges() -> None:
    """Make sure that nothing this process or its children start gains privileges.

    They are hidden from debuggers of the same user as well, and leave no core files.

    Raises:
        OSError: If the kernel does not allow it.
    """
    libc.system_call("prctl", libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.system_call("prctl", libc.PR_SET_DUMPABLE, 0)


def dropping_capabilities() -> SystemCall:
    """Return the call with which a process gives up all capabilities; see capset(2)."""
    return SystemCall("capset", (_CAPABILITIES_HEADER, _NO_CAPABILITIES))


def becoming_user(user: int) -> SystemCall:
    """Return the call with which a process of root becomes another user for good.

    Without it no limit on tasks is kept: the kernel exempts root, even without capabilities.
    """
    return SystemCall("setresuid", (user, user, user))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent's thread that started it ends."""
    libc.system_call("prctl", libc.PR_SET_PDEATHSIG, _SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    libc.system_call("prctl", libc.PR_SET_CHILD_SUBREAPER, 1)
