"""System calls that Python has no name for; OSError where the kernel refuses."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable

CLONE_NEWNS = 0x0002_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x4_0000
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_NUMBERS = {
    "x86_64": {
        "capset": 126,
        "mount": 165,
        "pivot_root": 155,
        "prctl": 157,
        "setns": 308,
        "umount2": 166,
        "unshare": 272,
    },
    "aarch64": {
        "capset": 91,
        "mount": 40,
        "pivot_root": 41,
        "prctl": 167,
        "setns": 268,
        "umount2": 39,
        "unshare": 97,
    },
}
_NUMBERS_EVERYWHERE = {
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
_N_ARGUMENTS = 6


def machine() -> str:
    """Return the processor architecture, such as `x86_64`."""
    return os.uname().machine


def system_call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call.

    Args:
        name: One of those that are listed here.
        arguments: Up to six; bytes and arrays are passed as pointers to their content, None as a
            null pointer.

    Raises:
        OSError: If it failed; the message names the call.
    """
    number, function = _function(name)
    result = function(number, *arguments, *[None] * (_N_ARGUMENTS - len(arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


@functools.cache
def _function(name: str) -> tuple[int, Callable[..., int]]:
    number = _NUMBERS_EVERYWHERE.get(name) or _NUMBERS.get(machine(), {}).get(name)
    if number is None:
        raise OSError(0, f"{name}: the number of this call is not known for {machine()}")
    return number, _syscall()


@functools.cache
def _syscall() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * _N_ARGUMENTS]
    result: Callable[..., int] = function
    return result
