"""Namespaces: views of the system in which the rest of it does not exist.

A mount namespace gets a root folder that holds nothing but what Python programs need to run, all of
it read-only. Programs have one place for files of their own. A file system of limited size is
mounted there, within a folder for which one Landlock rule, made once, suffices. `/tmp` and
`/dev/shm` are links to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from struct import Struct

from poor_bench.sandbox.linux import system_calls
from poor_bench.sandbox.linux.system_calls import PreparedCalls, SystemCall, call_system

SCRATCH_PARENT = "/poor_bench"
SCRATCH = f"{SCRATCH_PARENT}/scratch"
# any folder that exists everywhere and is not needed any more; it is hidden meanwhile
_NEW_ROOT = "/sys"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
# struct mount_attr: attr_set, attr_clr, propagation, userns_fd
_MOUNT_ATTRIBUTES = Struct("=QQQQ")
_READ_ONLY_WITHOUT_SETUID = 0b11
_AT_RECURSIVE = 0x8000
# programs of root run as another user; nobody else sees the folder
_SCRATCH_OPTIONS = b"mode=777,size=64m,nr_inodes=10k"
_LEAVING_SCRATCH = SystemCall("umount2", (SCRATCH.encode(), system_calls.MNT_DETACH))
_MOUNTING_SCRATCH = SystemCall("mount", (b"tmpfs", SCRATCH.encode(), b"tmpfs", 0, _SCRATCH_OPTIONS))


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
        finish_mapping = _map_from_outside(f"{own}\n{further_user} {further_user} 1")
    try:
        call_system("unshare", system_calls.CLONE_NEWUSER)
    finally:
        is_mapped = finish_mapping is not None and finish_mapping()
    _write("/proc/self/setgroups", "deny")
    if not is_mapped:
        _write("/proc/self/uid_map", own)
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _map_from_outside(users: str) -> Callable[[], bool]:
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


def counts_tasks_apart() -> bool:
    """True if the kernel counts a user's tasks in each user namespace; Linux 5.14 does."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)


def enter_new(flags: int) -> None:
    """Enter new namespaces of some kinds, given as `CLONE_NEW...`.

    A new pid namespace begins with the next child of this process.

    Raises:
        OSError: If the kernel does not allow it.
    """
    call_system("unshare", flags)


def prepare_pid_renewal() -> PreparedCalls:
    """Prepare the calls that make the next child the first process of a new pid namespace.

    For the process that forks, which must itself be in a pid namespace that it may administer: it
    can ask for a new one only after it went back to its own.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    going_back = SystemCall("setns", (own, system_calls.CLONE_NEWPID))
    return PreparedCalls([going_back, SystemCall("unshare", (system_calls.CLONE_NEWPID,))])


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter_bare_root(readable: Sequence[str]) -> None:
    """Move this process, in a mount namespace of its own, into a new root folder.

    Args:
        readable: Files and folders of the old root that the new one shows at the same places;
            none of them within another one.

    Raises:
        OSError: If the kernel does not allow it.
    """
    _mount(None, "/", None, system_calls.MS_REC | system_calls.MS_PRIVATE)
    _mount("tmpfs", _NEW_ROOT, b"tmpfs", 0, b"mode=755,size=4m")
    os.makedirs(f"{_NEW_ROOT}{SCRATCH}")
    for path in (*readable, *_DEVICES):
        _show(path)
    for place in ("/tmp", "/dev/shm"):  # noqa: S108 - of the new root
        if not os.path.exists(f"{_NEW_ROOT}{place}"):
            os.symlink(SCRATCH, f"{_NEW_ROOT}{place}")
    _make_read_only(_NEW_ROOT)
    os.chdir(_NEW_ROOT)
    call_system("pivot_root", b".", b".")
    call_system("umount2", b".", system_calls.MNT_DETACH)
    os.chdir("/")
    PreparedCalls([_MOUNTING_SCRATCH]).make()


def clear_scratch() -> None:
    """Replace the file system of the scratch folder by a new one, unless it is empty.

    Raises:
        OSError: If the kernel does not allow it.
    """
    with os.scandir(SCRATCH) as left:
        is_empty = next(left, None) is None
    if not is_empty:
        renew_scratch()


def renew_scratch() -> None:
    """Replace the file system of the scratch folder by a new one.

    Raises:
        OSError: If the kernel does not allow it.
    """
    PreparedCalls([_LEAVING_SCRATCH, _MOUNTING_SCRATCH]).make()


def list_private_scratch_calls() -> list[SystemCall]:
    """List the calls that give a process a scratch folder that no other sees."""
    return [SystemCall("unshare", (system_calls.CLONE_NEWNS,)), _LEAVING_SCRATCH, _MOUNTING_SCRATCH]


def _show(path: str) -> None:
    target = f"{_NEW_ROOT}{path}"
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(path, target, None, system_calls.MS_BIND | system_calls.MS_REC)


def _make_read_only(path: str) -> None:
    attributes = _MOUNT_ATTRIBUTES.pack(_READ_ONLY_WITHOUT_SETUID, 0, 0, 0)
    call_system("mount_setattr", -1, os.fsencode(path), _AT_RECURSIVE, attributes, len(attributes))


def _mount(
    source: str | None, target: str, kind: bytes | None, flags: int, options: bytes | None = None
) -> None:
    what = os.fsencode(source) if source else None
    try:
        call_system("mount", what, os.fsencode(target), kind, flags, options)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({target})") from error
