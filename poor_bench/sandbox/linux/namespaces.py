"""Namespaces: views of the system in which the rest of it does not exist."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall


def become_namespace_owner(further_user: int | None = None) -> None:
    """Enter a new user namespace, in which this process may create other namespaces.

    User and group keep their ids. Inside, the process has every capability over what it creates
    there, and none over anything else.

    Args:
        further_user: Another user to have inside, where this process is root and may map users.

    Raises:
        OSError: If the kernel or its administrator does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    own = f"{user} {user} 1"
    finish_mapping = None
    if further_user is not None:
        finish_mapping = _mapping_from_outside(f"{own}\n{further_user} {further_user} 1")
    try:
        libc.system_call("unshare", libc.CLONE_NEWUSER)
    finally:
        is_mapped = finish_mapping is not None and finish_mapping()
    _write("/proc/self/setgroups", "deny")
    if not is_mapped:
        _write("/proc/self/uid_map", own)
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _mapping_from_outside(users: str) -> Callable[[], bool]:
    """Start a process that maps users into the user namespace that this one is about to enter.

    A process inside may map itself only; one that stays outside may map others if it is root.

    Returns:
        Lets it do so, and tells whether it did.
    """
    reading, writing = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(writing)
        os.read(reading, 1)  # until the other end is closed
        with suppress(OSError):
            _write(f"/proc/{os.getppid()}/uid_map", users)
            os._exit(0)
        os._exit(1)
    os.close(reading)

    def finish() -> bool:
        os.close(writing)
        return os.waitpid(helper, 0)[1] == 0

    return finish


def count_tasks_apart() -> bool:
    """Tell whether the kernel counts a user's tasks in each user namespace; Linux 5.14 does."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)


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
