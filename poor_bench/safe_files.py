"""Safe access to files: regular ones only, inside the workspace, system errors as ours."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from poor_bench.errors import StoreError

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


@contextmanager
def os_errors_told(path: Path) -> Iterator[None]:
    """Raise what the operating system refuses as an error of the store.

    Args:
        path: The file that is named where the system names none.

    Raises:
        StoreError: Instead of every OSError.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror or error}",
            hint="Check the permissions of the file and its folder. Stored results are intact.",
        ) from error
