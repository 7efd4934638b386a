"""Scratch folders for children that cannot have a file system of their own."""

from __future__ import annotations

import itertools
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from poor_bench.sandbox.levels import Mechanism

_MAX_WAIT_S = 1.0
_cleaner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scratch folders")
"""One thread: programs that leave much behind wait for each other, and the disk is not flooded."""


@contextmanager
def scratch_folder(missing: Mapping[Mechanism, str]) -> Iterator[str | None]:
    """Make a folder for one child, and remove it and all that is in it afterwards.

    What takes longer than `_MAX_WAIT_S` to remove is removed in the background.

    Yields:
        Its path, or None where children make their own.
    """
    if Mechanism.BARE_ROOT not in missing:
        yield None
        return
    folder = tempfile.mkdtemp(prefix="poor_bench-")
    try:
        yield folder
    finally:
        with suppress(TimeoutError):
            _cleaner.submit(_remove, folder).result(_MAX_WAIT_S)


def _remove(folder: str) -> None:
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    with suppress(OSError):
        _remove_deep_folders(Path(folder))


def _remove_deep_folders(root: Path) -> None:
    """Remove a folder in which others are nested too deeply for paths and recursion, if it exists.

    What is in a folder is moved to the top before that folder is removed, so paths stay short.
    """
    if not root.exists():
        return
    token, numbers = secrets.token_hex(8), itertools.count()
    folders = [root]
    while folders:
        folder = folders.pop()
        for item in list(folder.iterdir()):
            if item.is_dir() and not item.is_symlink():
                item.chmod(0o700)
                folders.append(item.rename(root / f"{token}-{next(numbers)}"))
            else:
                item.unlink()
        if folder != root:
            folder.rmdir()
    root.rmdir()
