"""seccomp: filters that let a process make only the system calls of ordinary Python programs.

What they close: new processes and programs, sockets, signals to others, tracing, mounting, other
users' limits, rights and times of files. Threads stay possible, and so do connected pairs of
stream sockets, on which `asyncio` stands.

There are two, of which the kernel takes the stricter answer. The first is for the process that
forks children, and leaves it what it needs for that; children inherit it, and add the second, which
takes that away. That one is short, because installing a filter takes time in proportion to it.

A filter is a program for the kernel's classic BPF machine; see seccomp(2) and
`include/uapi/linux/{filter,seccomp}.h` of Linux.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import socket
from collections.abc import Iterable, Sequence
from struct import Struct
from typing import NamedTuple

from poor_bench.sandbox.linux import libc, syscall_table
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall

_INSTRUCTION = Struct("=HBBI")
_PROGRAM_HEADER = Struct("@HP")
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_IF_EQUAL, _JUMP_IF_GREATER, _JUMP_IF_AT_LEAST = 0x15, 0x25, 0x35

_ALLOW, _KILL_PROCESS, _FAIL_WITH = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_FILTER_MODE = 2

_CLONE_THREAD = 0x1_0000
_SOCKET_KIND_MASK = 0xF
_PR_SET_NAME, _PR_SET_VMA = 15, 0x5356_4D41
_OWN_FILE_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)
"""fcntl commands on a descriptor itself and its locks; not those that choose whom to signal."""
_HARMLESS_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX."""


class _Condition(NamedTuple):
    """A call is allowed if one argument, masked, is one of `values`."""

    call: str
    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFF_FFFF


def _conditions(own_pid: int) -> tuple[_Condition, ...]:
    return (
        _Condition("kill", 0, (own_pid,)),
        _Condition("tgkill", 0, (own_pid,)),
        _Condition("prlimit64", 0, (0, own_pid)),
        _Condition("clone", 0, (_CLONE_THREAD,), mask=_CLONE_THREAD),
        _Condition("socketpair", 1, (socket.SOCK_STREAM,), mask=_SOCKET_KIND_MASK),
        _Condition("sendto", 4, (0,), mask=0xFFFF_FFFF_FFFF_FFFF),
        _Condition("fcntl", 1, _OWN_FILE_COMMANDS),
        _Condition("ioctl", 1, _HARMLESS_IOCTLS),
        _Condition("prctl", 0, (_PR_SET_NAME, _PR_SET_VMA)),
    )


def filter_forking_process() -> None:
    """Install the first filter for this process and its children; irrevocable.

    Needs `forbid_new_privileges` before.

    Raises:
        OSError: If the kernel has no seccomp, or the architecture has no table of calls.
    """
    PreparedCalls([_installing(_first_filter(_known_machine()))]).make()


def filtering_child(pid: int) -> SystemCall:
    """Return the call that installs the second filter for a child and its threads; irrevocable.

    Args:
        pid: The child's process id, as it knows it.

    Raises:
        OSError: If the architecture has no table of calls.
    """
    return _installing(_second_filter(_known_machine(), pid))


class _Filter(NamedTuple):
    """A filter as the kernel takes it: a header that points to instructions."""

    header: bytes
    instructions: ctypes.Array[ctypes.c_char]


def _installing(program: _Filter) -> SystemCall:
    return SystemCall("prctl", (libc.PR_SET_SECCOMP, _FILTER_MODE, program.header))


def _known_machine() -> str:
    machine = libc.machine()
    if machine not in syscall_table.ARCHITECTURES:
        raise OSError(0, f"no table of system calls for {machine}")
    return machine


@functools.cache
def _first_filter(machine: str) -> _Filter:
    """Return a filter that refuses what neither a forking process nor its children need."""
    return _assemble(
        _instruction(_LOAD, _ARCHITECTURE_OFFSET),
        _instruction(_JUMP_IF_EQUAL, syscall_table.ARCHITECTURES[machine], if_true=1),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, _NUMBER_OFFSET),
        _instruction(_JUMP_IF_EQUAL, syscall_table.CLONE3, if_true=1),
        _instruction(_JUMP_IF_GREATER, syscall_table.LAST_KNOWN, if_false=1),
        _instruction(_RETURN, _FAIL_WITH | errno.ENOSYS),
        *_search(_ranges(syscall_table.calls_of_forking_process(machine))),
    )


@functools.cache
def _second_filter(machine: str, own_pid: int) -> _Filter:
    """Return a filter that refuses what only a forking process needs."""
    instructions = [_instruction(_LOAD, _NUMBER_OFFSET)]
    numbers = syscall_table.conditional_calls(machine)
    for condition in _conditions(own_pid):
        block = _check(condition)
        length = len(block)
        instructions += [_instruction(_JUMP_IF_EQUAL, numbers[condition.call], if_false=length)]
        instructions += block
    for number in syscall_table.calls_only_of_forking_process(machine):
        instructions += [
            _instruction(_JUMP_IF_EQUAL, number, if_false=1),
            _instruction(_RETURN, _FAIL_WITH | errno.EPERM),
        ]
    return _assemble(*instructions, _instruction(_RETURN, _ALLOW))


def _assemble(*instructions: bytes) -> _Filter:
    code = b"".join(instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = _PROGRAM_HEADER.pack(len(instructions), ctypes.addressof(buffer))
    return _Filter(header, buffer)


def _search(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return instructions that allow a call whose number is in one of the ranges.

    They search by halves: the kernel runs a filter once for every call that there is when it is
    installed.
    """
    if not ranges:
        return [_instruction(_RETURN, _FAIL_WITH | errno.EPERM)]
    middle = len(ranges) // 2
    first, last = ranges[middle]
    below, above = _search(ranges[:middle]), _search(ranges[middle + 1 :])
    return [
        _instruction(_JUMP_IF_AT_LEAST, first, if_false=2),
        _instruction(_JUMP_IF_GREATER, last, if_true=1 + len(below)),
        _instruction(_RETURN, _ALLOW),
        *below,
        *above,
    ]


def _check(condition: _Condition) -> list[bytes]:
    """Return instructions that end in a decision on one argument."""
    low = _ARGUMENTS_OFFSET + 8 * condition.argument
    refusal = _instruction(_RETURN, _FAIL_WITH | errno.EPERM)
    instructions = []
    if condition.mask >> 32:
        equal_zero = _instruction(_JUMP_IF_EQUAL, 0, if_true=1)
        instructions += [_instruction(_LOAD, low + 4), equal_zero, refusal]
    instructions += [
        _instruction(_LOAD, low),
        _instruction(_AND, condition.mask & 0xFFFF_FFFF),
    ]
    n_values = len(condition.values)
    instructions += [
        _instruction(_JUMP_IF_EQUAL, value, if_true=n_values - index)
        for index, value in enumerate(condition.values)
    ]
    return [*instructions, refusal, _instruction(_RETURN, _ALLOW)]


def _ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as first and last of each unbroken run."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def _instruction(code: int, constant: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, if_true, if_false, constant)
