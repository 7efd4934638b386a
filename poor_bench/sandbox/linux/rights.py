"""Give up for good what a process could use against others: privileges, files, TCP, signals.

Landlock takes rights to files, TCP and others' sockets and signals from a process. It works without
privileges. Structures and numbers: `include/uapi/linux/landlock.h` of Linux.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from poor_bench.sandbox.linux import system_calls
from poor_bench.sandbox.linux.system_calls import SystemCall, call_system

# version 3; this process; see capset(2)
_CAPABILITIES_HEADER = Struct("=II").pack(0x2008_0522, 0)
# effective, permitted and inheritable ones below 32, then those above
_CAPABILITIES = Struct("=6I")
# CAP_DAC_READ_SEARCH: the rights of files do not keep this process from reading them
_READ_ALL = 1 << 2
_SIGKILL = 9


class OtherUser(NamedTuple):
    """Whom a process of root becomes.

    The kernel keeps no limit on the tasks of root, even without capabilities.

    Attributes:
        number: Of the user.
        reads_all: Keep root's right to read all files: for a Python that only root may read.
    """

    number: int
    reads_all: bool = False


def forbid_new_privileges() -> None:
    """Make sure that nothing this process or its children start gains privileges.

    They are hidden from debuggers of the same user as well, and leave no core files.

    Raises:
        OSError: If the kernel does not allow it.
    """
    call_system("prctl", system_calls.PR_SET_NO_NEW_PRIVS, 1)
    call_system("prctl", system_calls.PR_SET_DUMPABLE, 0)


def list_privilege_calls(user: OtherUser | None) -> list[SystemCall]:
    """List the calls with which a process gives up all capabilities.

    Args:
        user: Whom it becomes before; None for who it is.
    """
    if user is None:
        return [_keep_capabilities(0)]
    becoming = SystemCall("setresuid", (user.number,) * 3)
    if not user.reads_all:
        return [becoming, _keep_capabilities(0)]
    # without it, the kernel takes all capabilities from a process that leaves root behind
    keeping = SystemCall("prctl", (system_calls.PR_SET_KEEPCAPS, 1))
    return [keeping, becoming, _keep_capabilities(_READ_ALL)]


def _keep_capabilities(kept: int) -> SystemCall:
    content = _CAPABILITIES.pack(kept, kept, 0, 0, 0, 0)
    return SystemCall("capset", (_CAPABILITIES_HEADER, content))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent's thread that started it ends."""
    call_system("prctl", system_calls.PR_SET_PDEATHSIG, _SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    call_system("prctl", system_calls.PR_SET_CHILD_SUBREAPER, 1)


# struct landlock_ruleset_attr: handled_access_fs, handled_access_net, scoped
_RULESET = Struct("=QQQ")
# struct landlock_path_beneath_attr, packed: allowed_access, parent_fd
_PATH_RULE = Struct("=Qi")
_ASK_VERSION = 1
_PATH_BENEATH = 1
_OLDEST_USABLE_VERSION = 3

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_MAKE = _MAKE_DIR | _MAKE_REG | _MAKE_SYM
_READ = _READ_FILE | _READ_DIR
_USE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE | _REFER | _TRUNCATE
_OF_A_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE
_ALL_OF_VERSION_3 = _DEVICE_CONTROL - 1
_BIND_AND_CONNECT_TCP = 0b11
_FOREIGN_SOCKETS_AND_SIGNALS = 0b11


def make_ruleset(readable: Sequence[str], usable: Sequence[str]) -> int:
    """Make rules for `list_rule_calls`, and return their descriptor.

    Nothing can be executed. Where the kernel knows how, TCP, abstract sockets of others and
    signals to others are closed as well.

    Args:
        readable: Files and folders that may be read.
        usable: Files and folders in which files may be read, made, changed and removed, those on
            file systems that are mounted there included.

    Raises:
        OSError: If the kernel has no Landlock, or one that does not know truncation.
    """
    version = call_system("landlock_create_ruleset", None, 0, _ASK_VERSION)
    if version < _OLDEST_USABLE_VERSION:
        raise OSError(0, f"Landlock of version {version} cannot stop files from being truncated")
    ruleset = _make_empty_ruleset(version)
    for paths, access in ((readable, _READ), (usable, _USE)):
        for path in paths:
            _allow(ruleset, path, access)
    return ruleset


def list_rule_calls(ruleset: int) -> list[SystemCall]:
    """List the calls that take from a process all rights that a ruleset does not give.

    They are irrevocable, and need `forbid_new_privileges` before. The ruleset is closed.
    """
    return [SystemCall("landlock_restrict_self", (ruleset, 0)), SystemCall("close", (ruleset,))]


def _make_empty_ruleset(version: int) -> int:
    file_rights = _ALL_OF_VERSION_3 | (_DEVICE_CONTROL if version >= 5 else 0)
    tcp = _BIND_AND_CONNECT_TCP if version >= 4 else 0
    scopes = _FOREIGN_SOCKETS_AND_SIGNALS if version >= 6 else 0
    attributes = _RULESET.pack(file_rights, tcp, scopes)
    known_size = 24 if version >= 6 else 16 if version >= 4 else 8
    return call_system("landlock_create_ruleset", attributes, known_size, 0)


def _allow(ruleset: int, path: str, access: int) -> None:
    target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            access &= _OF_A_FILE
        rule = _PATH_RULE.pack(access, target)
        call_system("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(target)
