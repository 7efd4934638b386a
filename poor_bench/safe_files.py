"""Which files may be read: regular ones only, and for paths in a workspace those inside it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_BINARY: int = getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, and nothing else: a pipe or device would block or never end.

    Raises:
        OSError: If it cannot be opened, or is not a regular file.
    """
    # without O_NONBLOCK, opening a pipe waits for a writer; Windows has neither
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "this is a pipe or a device, not a file", str(path))
    return open(descriptor, "rb")  # noqa: PTH123 - a descriptor; the caller closes it


def path_within(folder: Path, written: str, start: Path | None = None) -> Path:
    """Find the file that a file of a workspace names, symbolic links followed.

    Args:
        folder: What the file has to be in.
        written: The path as it is written.
        start: What a relative path starts at; `folder` by default.

    Raises:
        PermissionError: If the path leads out of the folder.
    """
    path = ((start or folder) / written).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise PermissionError(
            errno.EACCES, f"it leads out of {folder}; copy the file into it", written
        )
    return path
