"""Landlock: a process takes rights to files, TCP and others' sockets and signals from itself.

Works without privileges. Structures and numbers: `include/uapi/linux/landlock.h` of Linux.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from struct import Struct

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import SystemCall

_RULESET = Struct("=QQQ")
"""struct landlock_ruleset_attr: handled_access_fs, handled_access_net, scoped."""
_PATH_RULE = Struct("=Qi")
"""struct landlock_path_beneath_attr, packed: allowed_access, parent_fd."""
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
    """Return the descriptor of rules for `keeping_rules`.

    Nothing can be executed. Where the kernel knows how, TCP, abstract sockets of others and
    signals to others are closed as well.

    Args:
        readable: Files and folders that may be read.
        usable: Files and folders in which files may be read, made, changed and removed, those on
            file systems that are mounted there included.

    Raises:
        OSError: If the kernel has no Landlock, or one that does not know truncation.
    """
    version = libc.system_call("landlock_create_ruleset", None, 0, _ASK_VERSION)
    if version < _OLDEST_USABLE_VERSION:
        raise OSError(0, f"Landlock of version {version} cannot stop files from being truncated")
    ruleset = _empty_ruleset(version)
    for paths, access in ((readable, _READ), (usable, _USE)):
        for path in paths:
            _allow(ruleset, path, access)
    return ruleset


def keeping_rules(ruleset: int) -> list[SystemCall]:
    """Return the calls that take from a process all rights that a ruleset does not give.

    They are irrevocable, and need `forbid_new_privileges` before. The ruleset is closed.
    """
    return [SystemCall("landlock_restrict_self", (ruleset, 0)), SystemCall("close", (ruleset,))]


def _empty_ruleset(version: int) -> int:
    file_rights = _ALL_OF_VERSION_3 | (_DEVICE_CONTROL if version >= 5 else 0)
    tcp = _BIND_AND_CONNECT_TCP if version >= 4 else 0
    scopes = _FOREIGN_SOCKETS_AND_SIGNALS if version >= 6 else 0
    attributes = _RULESET.pack(file_rights, tcp, scopes)
    known_size = 24 if version >= 6 else 16 if version >= 4 else 8
    return libc.system_call("landlock_create_ruleset", attributes, known_size, 0)


def _allow(ruleset: int, path: str, access: int) -> None:
    target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(target).st_mode):
            access &= _OF_A_FILE
        rule = _PATH_RULE.pack(access, target)
        libc.system_call("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(target)
