"""seccomp: filters that let a process make only the system calls of ordinary Python programs.

What they close: new processes and programs, sockets, signals to others, tracing, mounting, other
users' limits, rights and times of files. Threads stay possible, and so do connected pairs of
stream sockets, on which `asyncio` stands.

There are two, of which the kernel takes the stricter answer. The first is for the process that
forks children, and leaves it what it needs for that; children inherit it, and add the second, which
takes that away. That one is short, because installing a filter takes time in proportion to it.

A filter is a program for the kernel's classic BPF machine; see seccomp(2) and
`include/uapi/linux/{filter,seccomp}.h` of Linux. Source of the numbers of calls: `unistd_64.h` of
x86_64 and `asm-generic/unistd.h` (arm64) of Linux.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import socket
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from poor_bench.sandbox.linux.system_calls import (
    PR_SET_SECCOMP,
    PreparedCalls,
    SystemCall,
    read_numbers,
)

# machine to the kernel's AUDIT_ARCH_... constant
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}

# Calls beyond are newer than this table, and so is how they could be misused. They fail with
# ENOSYS, as on an older kernel, because the C library then falls back to an older call. The same
# holds for clone3: its flags are in memory, where a filter cannot look, so `clone` with its flags
# in an argument is what remains.
LAST_KNOWN = 449
CLONE3 = 435

# Calls of programs, `name:x86_64:arm64`. Those that open files are allowed, because Landlock and
# the bare root decide which ones. Missing on purpose: calls that start processes or programs, open
# sockets, trace or signal others, mount, change owners, rights or times of files, or make memory
# that outlives its limits. They fail with EPERM, which programs handle, instead of killing them.
_FILES = """
    read:0:63 write:1:64 close:3:57 fstat:5:80 lseek:8:62 pread64:17:67 pwrite64:18:68
    readv:19:65 writev:20:66 preadv:295:69 pwritev:296:70 preadv2:327:286 pwritev2:328:287
    open:2:- creat:85:- openat:257:56 stat:4:- lstat:6:- newfstatat:262:79 statx:332:291
    access:21:- faccessat:269:48 faccessat2:439:439 readlink:89:- readlinkat:267:78
    getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82:-
    renameat:264:38 renameat2:316:276 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:-
    unlinkat:263:35 link:86:- linkat:265:37 symlink:88:- symlinkat:266:36 truncate:76:45
    ftruncate:77:46 fallocate:285:47 fadvise64:221:223 fsync:74:82 fdatasync:75:83
    sendfile:40:71 copy_file_range:326:285 dup:32:23 dup2:33:- dup3:292:24 pipe:22:-
    pipe2:293:59 poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:-
    epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:- epoll_pwait:281:22
    epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 signalfd:282:- signalfd4:289:74
    flock:73:32 umask:95:166 statfs:137:43 fstatfs:138:44 close_range:436:436
"""
# no shmget or memfd_create: the limit for address space does not count what they make
_MEMORY = """
    mmap:9:222 mprotect:10:226 munmap:11:215 brk:12:214 mremap:25:216 msync:26:227
    madvise:28:233 mincore:27:232 membarrier:324:283
"""
# reading and waiting; no setting of clocks
_TIME = """
    gettimeofday:96:169 time:201:- clock_gettime:228:113 clock_getres:229:114
    clock_nanosleep:230:115 nanosleep:35:101 times:100:153 getitimer:36:102 setitimer:38:103
    alarm:37:- timer_create:222:107 timer_settime:223:110 timer_gettime:224:108
    timer_getoverrun:225:109 timer_delete:226:111 timerfd_create:283:85
    timerfd_settime:286:86 timerfd_gettime:287:87 pause:34:-
"""
# handling the signals that a process gets; sending them is conditional
_SIGNALS = """
    rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136
    rt_sigtimedwait:128:137 rt_sigsuspend:130:133 sigaltstack:131:132
    restart_syscall:219:128
"""
# asking about the process itself, and ending it; limits can be lowered, never raised again
_ITSELF = """
    getpid:39:172 gettid:186:178 getppid:110:173 getuid:102:174 geteuid:107:175
    getgid:104:176 getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158
    getpgid:121:155 getpgrp:111:- getsid:124:156 uname:63:160 sysinfo:99:179
    getrusage:98:165 getcpu:309:168 getrandom:318:278 getpriority:140:141 sched_yield:24:124
    sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120
    sched_get_priority_max:146:125 sched_get_priority_min:147:126 getrlimit:97:163
    setrlimit:160:164 wait4:61:260 waitid:247:95 exit:60:93 exit_group:231:94
"""
# what threads need apart from `clone`
_THREADS = """
    futex:202:98 futex_waitv:449:449 set_robust_list:273:99 get_robust_list:274:100
    rseq:334:293 set_tid_address:218:96
"""
# for sockets that are connected already; no socket, connect, bind or accept
_CONNECTED_SOCKETS = """
    recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 shutdown:48:210 getsockopt:55:209
    setsockopt:54:208 getsockname:51:204 getpeername:52:205
"""
# allowed with some arguments only; see `_list_conditions`
_CONDITIONAL = """
    kill:62:129 tgkill:234:131 prlimit64:302:261 clone:56:220 socketpair:53:199
    sendto:44:206 fcntl:72:25 ioctl:16:29 prctl:157:167
"""

# what the zygote needs to fork children, and children to lock themselves in before their own filter
_FORKING = """
    fork:57:- vfork:58:- setns:308:268 unshare:272:97 mount:165:40 umount2:166:39 capset:126:91
    chown:92:- fchownat:260:54 setresuid:117:147 setsid:112:157 landlock_create_ruleset:444:444
    landlock_add_rule:445:445 landlock_restrict_self:446:446
"""


def list_calls_of_zygote(machine: str) -> list[int]:
    """List the numbers of calls that a process may make that forks programs, in order."""
    of_programs = (_FILES, _MEMORY, _TIME, _SIGNALS, _ITSELF, _THREADS, _CONNECTED_SOCKETS)
    tables = (*of_programs, _CONDITIONAL, _FORKING)
    return sorted(number for table in tables for number in read_numbers(table, machine).values())


def list_calls_only_of_zygote(machine: str) -> list[int]:
    """List the numbers of those among them that programs may not make."""
    return list(read_numbers(_FORKING, machine).values())


def list_conditional_calls(machine: str) -> dict[str, int]:
    """List the numbers of calls that programs may make with some arguments, by name."""
    return read_numbers(_CONDITIONAL, machine)


_INSTRUCTION = Struct("=HBBI")
_PROGRAM_HEADER = Struct("@HP")
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_IF_EQUAL, _JUMP_IF_GREATER, _JUMP_IF_AT_LEAST = 0x15, 0x25, 0x35

_ALLOW, _KILL_PROCESS, _FAIL_WITH = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_FILTER_MODE = 2

_CLONE_THREAD = 0x1_0000
_SOCKET_KIND_MASK = 0xF
# the C library and Python name their threads and memory
_PR_SET_NAME, _PR_SET_VMA = 15, 0x5356_4D41
# fcntl commands on a descriptor itself and its locks; not those that choose whom to signal
_OWN_FILE_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: Python makes them for files and
# sockets; others change terminals and devices
_HARMLESS_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)


class _Condition(NamedTuple):
    """A call is allowed if one argument, masked, is one of `values`."""

    call: str
    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFF_FFFF


def _list_conditions(own_pid: int) -> tuple[_Condition, ...]:
    return (
        # signals and limits: of this process only
        _Condition("kill", 0, (own_pid,)),
        _Condition("tgkill", 0, (own_pid,)),
        _Condition("prlimit64", 0, (0, own_pid)),
        # a thread, never a process
        _Condition("clone", 0, (_CLONE_THREAD,), mask=_CLONE_THREAD),
        # `asyncio` wakes itself through a pair of stream sockets; datagrams could name an address
        _Condition("socketpair", 1, (socket.SOCK_STREAM,), mask=_SOCKET_KIND_MASK),
        # without an address: all 64 bits of the pointer must be zero
        _Condition("sendto", 4, (0,), mask=0xFFFF_FFFF_FFFF_FFFF),
        _Condition("fcntl", 1, _OWN_FILE_COMMANDS),
        _Condition("ioctl", 1, _HARMLESS_IOCTLS),
        _Condition("prctl", 0, (_PR_SET_NAME, _PR_SET_VMA)),
    )


def filter_zygote() -> None:
    """Install the first filter for this process and its children; irrevocable.

    Needs `forbid_new_privileges` before.

    Raises:
        OSError: If the kernel has no seccomp, or the architecture has no table of calls.
    """
    PreparedCalls([_install(_make_first_filter(_find_machine()))]).make()


def make_filter_call(pid: int) -> SystemCall:
    """Build the call that installs the second filter for a child and its threads; irrevocable.

    Args:
        pid: The child's process id, as it knows it.

    Raises:
        OSError: If the architecture has no table of calls.
    """
    return _install(_make_second_filter(_find_machine(), pid))


class _Filter(NamedTuple):
    """A filter as the kernel takes it: a header that points to instructions."""

    header: bytes
    instructions: ctypes.Array[ctypes.c_char]


def _install(program: _Filter) -> SystemCall:
    return SystemCall("prctl", (PR_SET_SECCOMP, _FILTER_MODE, program.header))


def _find_machine() -> str:
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(0, f"no table of system calls for {machine}")
    return machine


@functools.cache
def _make_first_filter(machine: str) -> _Filter:
    """Make a filter that refuses what neither a forking process nor its children need."""
    return _assemble(
        # numbers mean other calls in another architecture, such as x86 on x86_64
        _encode_instruction(_LOAD, _ARCHITECTURE_OFFSET),
        _encode_instruction(_JUMP_IF_EQUAL, ARCHITECTURES[machine], if_true=1),
        _encode_instruction(_RETURN, _KILL_PROCESS),
        _encode_instruction(_LOAD, _NUMBER_OFFSET),
        _encode_instruction(_JUMP_IF_EQUAL, CLONE3, if_true=1),
        _encode_instruction(_JUMP_IF_GREATER, LAST_KNOWN, if_false=1),
        _encode_instruction(_RETURN, _FAIL_WITH | errno.ENOSYS),
        *_search(_find_ranges(list_calls_of_zygote(machine))),
    )


@functools.cache
def _make_second_filter(machine: str, own_pid: int) -> _Filter:
    """Make a filter that refuses what only a forking process needs."""
    instructions = [_encode_instruction(_LOAD, _NUMBER_OFFSET)]
    numbers = list_conditional_calls(machine)
    for condition in _list_conditions(own_pid):
        block = _check(condition)
        length = len(block)
        instructions += [
            _encode_instruction(_JUMP_IF_EQUAL, numbers[condition.call], if_false=length)
        ]
        instructions += block
    for number in list_calls_only_of_zygote(machine):
        instructions += [
            _encode_instruction(_JUMP_IF_EQUAL, number, if_false=1),
            _encode_instruction(_RETURN, _FAIL_WITH | errno.EPERM),
        ]
    return _assemble(*instructions, _encode_instruction(_RETURN, _ALLOW))


def _assemble(*instructions: bytes) -> _Filter:
    code = b"".join(instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = _PROGRAM_HEADER.pack(len(instructions), ctypes.addressof(buffer))
    return _Filter(header, buffer)


def _search(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Build instructions that allow a call whose number is in one of the ranges.

    They search by halves: the kernel runs a filter once for every call that there is when it is
    installed.
    """
    if not ranges:
        return [_encode_instruction(_RETURN, _FAIL_WITH | errno.EPERM)]
    middle = len(ranges) // 2
    first, last = ranges[middle]
    below, above = _search(ranges[:middle]), _search(ranges[middle + 1 :])
    return [
        _encode_instruction(_JUMP_IF_AT_LEAST, first, if_false=2),
        _encode_instruction(_JUMP_IF_GREATER, last, if_true=1 + len(below)),
        _encode_instruction(_RETURN, _ALLOW),
        *below,
        *above,
    ]


def _check(condition: _Condition) -> list[bytes]:
    """Build instructions that end in a decision on one argument."""
    low = _ARGUMENTS_OFFSET + 8 * condition.argument
    refusal = _encode_instruction(_RETURN, _FAIL_WITH | errno.EPERM)
    instructions = []
    if condition.mask >> 32:
        equal_zero = _encode_instruction(_JUMP_IF_EQUAL, 0, if_true=1)
        instructions += [_encode_instruction(_LOAD, low + 4), equal_zero, refusal]
    instructions += [
        _encode_instruction(_LOAD, low),
        _encode_instruction(_AND, condition.mask & 0xFFFF_FFFF),
    ]
    n_values = len(condition.values)
    instructions += [
        _encode_instruction(_JUMP_IF_EQUAL, value, if_true=n_values - index)
        for index, value in enumerate(condition.values)
    ]
    return [*instructions, refusal, _encode_instruction(_RETURN, _ALLOW)]


def _find_ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Reduce ascending numbers to first and last of each unbroken run."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def _encode_instruction(code: int, constant: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, if_true, if_false, constant)
