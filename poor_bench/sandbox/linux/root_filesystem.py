"""A root folder that holds nothing but what Python programs need to run, all of it read-only.

Programs have one place for files of their own. A file system of limited size is mounted there,
within a folder for which one Landlock rule, made once, suffices. `/tmp` and `/dev/shm` are links
to it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from struct import Struct

from poor_bench.sandbox.linux import libc
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall

SCRATCH_PARENT = "/poor_bench"
SCRATCH = f"{SCRATCH_PARENT}/scratch"
_BUILDING_SITE = "/sys"
"""Any folder that exists everywhere and is not needed any more; it is hidden meanwhile."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_MOUNT_ATTRIBUTES = Struct("=QQQQ")
"""struct mount_attr: attr_set, attr_clr, propagation, userns_fd."""
_READ_ONLY_WITHOUT_SETUID = 0b11
_AT_RECURSIVE = 0x8000
_SCRATCH_OPTIONS = b"mode=777,size=64m,nr_inodes=10k"
"""Programs of root run as another user; nobody else sees the folder."""
_LEAVING_SCRATCH = SystemCall("umount2", (SCRATCH.encode(), libc.MNT_DETACH))
_MOUNTING_SCRATCH = SystemCall("mount", (b"tmpfs", SCRATCH.encode(), b"tmpfs", 0, _SCRATCH_OPTIONS))


def enter_bare_root(readable: Sequence[str]) -> None:
    """Move this process, in a mount namespace of its own, into a new root folder.

    Args:
        readable: Files and folders of the old root that the new one shows at the same places;
            none of them within another one.

    Raises:
        OSError: If the kernel does not allow it.
    """
    _mount(None, "/", None, libc.MS_REC | libc.MS_PRIVATE)
    _mount("tmpfs", _BUILDING_SITE, "tmpfs", 0, b"mode=755,size=4m")
    os.makedirs(f"{_BUILDING_SITE}{SCRATCH}")
    for path in (*readable, *_DEVICES):
        _show(path)
    for place in ("/tmp", "/dev/shm"):  # noqa: S108 - of the new root
        if not os.path.exists(f"{_BUILDING_SITE}{place}"):
            os.symlink(SCRATCH, f"{_BUILDING_SITE}{place}")
    _make_read_only(_BUILDING_SITE)
    os.chdir(_BUILDING_SITE)
    libc.system_call("pivot_root", b".", b".")
    libc.system_call("umount2", b".", libc.MNT_DETACH)
    os.chdir("/")
    PreparedCalls([_MOUNTING_SCRATCH]).make()


def empty_scratch() -> None:
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


def entering_private_scratch() -> list[SystemCall]:
    """Return the calls that give a process a scratch folder that no other sees."""
    return [SystemCall("unshare", (libc.CLONE_NEWNS,)), _LEAVING_SCRATCH, _MOUNTING_SCRATCH]


def _show(path: str) -> None:
    target = f"{_BUILDING_SITE}{path}"
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(path, target, None, libc.MS_BIND | libc.MS_REC)


def _make_read_only(path: str) -> None:
    attributes = _MOUNT_ATTRIBUTES.pack(_READ_ONLY_WITHOUT_SETUID, 0, 0, 0)
    libc.system_call(
        "mount_setattr", -1, os.fsencode(path), _AT_RECURSIVE, attributes, len(attributes)
    )


def _mount(
    source: str | None,
    target: str,
    kind: str | None,
    flags: int,
    options: bytes = b"",
) -> None:
    try:
        libc.system_call(
            "mount",
            os.fsencode(source) if source else None,
            os.fsencode(target),
            os.fsencode(kind) if kind else None,
            flags,
            options or None,
        )
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({target})") from error
