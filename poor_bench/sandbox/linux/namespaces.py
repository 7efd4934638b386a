"""Namespaces: views of the system in which the rest of it does not exist."""

from __future__ import annotations

import os

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall


def become_namespace_owner() -> None:
    """Enter a new user namespace, in which this process may create other namespaces.

    User and group keep their ids. Inside, the process has every capability over what it creates
    there, and none over anything else.

    Raises:
        OSError: If the kernel or its administrator does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    libc.system_call("unshare", libc.CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def enter_new(flags: int) -> None:
    """Enter new namespaces of some kinds, given as `CLONE_NEW...`.

    A new pid namespace begins with the next child of this process.

    Raises:
        OSError: If the kernel does not allow it.
    """
    libc.system_call("unshare", flags)


def renewing_pid_namespace() -> PreparedCalls:
    """Return the calls that make the next child the first process of a new pid namespace.

    For the process that forks, which must itself be in a pid namespace that it may administer: it
    can ask for a new one only after it went back to its own.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    going_back = SystemCall("setns", (own, libc.CLONE_NEWPID))
    return PreparedCalls([going_back, SystemCall("unshare", (libc.CLONE_NEWPID,))])


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
