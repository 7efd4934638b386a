"""System calls that Python has no name for; OSError where the kernel refuses.

Calls can be made ready in one process and made in its children. A child copies every page of memory
that it writes to. Reading an object writes too, because its references are counted; this is why as
little as possible is left to be done in a child.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

CLONE_NEWNS = 0x0002_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x4_0000
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

# machine to the column of its numbers in tables of calls, `name:x86_64:arm64`
MACHINES = {"x86_64": 1, "aarch64": 2}
_ABSENT = "-"
_NUMBERS = """
    capset:126:91 chdir:80:49 close:3:57 mount:165:40 pivot_root:155:41 prctl:157:167
    prlimit64:302:261 setresuid:117:147 setsid:112:157 setns:308:268 umount2:166:39 unshare:272:97
"""
_NUMBERS_EVERYWHERE = {
    "close_range": 436,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
_N_ARGUMENTS = 6


Argument = int | bytes | ctypes.Array[ctypes.c_char] | None


def read_numbers(table: str, machine: str) -> dict[str, int]:
    """Read the numbers that a machine has for the calls of a table, by name."""
    column = MACHINES[machine]
    entries = (entry.split(":") for entry in table.split())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != _ABSENT}


def call_system(name: str, *arguments: Argument) -> int:
    """Make a system call.

    Args:
        name: One of those that are listed here.
        arguments: Up to six; bytes and arrays are passed as pointers to their content, None as a
            null pointer.

    Raises:
        OSError: If it failed; the message names the call.
    """
    result = load_raw_system_call()(*list_raw_arguments(name, arguments))
    if result < 0:
        raise describe_failure(name)
    return result


def describe_failure(name: str) -> OSError:
    """Describe why the last raw system call failed; the message names it."""
    error = ctypes.get_errno()
    return OSError(error, f"{name}: {os.strerror(error)}")


def list_raw_arguments(name: str, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Build the arguments of the raw system call.

    Raises:
        OSError: If the number of the call is not known for this machine.
    """
    machine = os.uname().machine
    numbers = read_numbers(_NUMBERS, machine) if machine in MACHINES else {}
    number = (_NUMBERS_EVERYWHERE | numbers).get(name)
    if number is None:
        raise OSError(0, f"{name}: the number of this call is not known for {machine}")
    return number, *arguments, *[None] * (_N_ARGUMENTS - len(arguments))


@functools.cache
def load_raw_system_call() -> Callable[..., int]:
    """Load syscall(2) of the C library, which returns a negative number if it failed."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * _N_ARGUMENTS]
    result: Callable[..., int] = function
    return result


class SystemCall(NamedTuple):
    """A system call that is still to be made; see `call_system`."""

    name: str
    arguments: tuple[Argument, ...]


_WITHOUT_EFFECT = SystemCall("chdir", (b".",))


class PreparedCalls:
    """System calls in order, ready to be made."""

    def __init__(self, calls: Iterable[SystemCall]) -> None:
        """Make the calls ready.

        Raises:
            OSError: If the number of one is not known for this machine.
        """
        self._calls = [(name, list_raw_arguments(name, arguments)) for name, arguments in calls]
        self._raw_system_call = load_raw_system_call()

    def make(self) -> None:
        """Make them all.

        Raises:
            OSError: If one failed, with its name; those after it are not made.
        """
        call = self._raw_system_call
        for name, arguments in self._calls:
            if call(*arguments) < 0:
                raise describe_failure(name)

    @contextmanager
    def without_effect(self) -> Iterator[None]:
        """Make calls that change nothing instead, as many of them."""
        name, arguments = _WITHOUT_EFFECT
        real = self._calls
        self._calls = [(name, list_raw_arguments(name, arguments))] * len(real)
        try:
            yield
        finally:
            self._calls = real
