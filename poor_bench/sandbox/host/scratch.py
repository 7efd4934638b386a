"""Scratch folders for children that cannot have a file system of their own."""

from __future__ import annotations

import itertools
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from poor_bench.sandbox.levels import Mechanism


@contextmanager
def scratch_folder(missing: Mapping[Mechanism, str]) -> Iterator[str | None]:
    """Make a folder for one child, and remove it and all that is in it afterwards.

    Yields:
        Its path, or None where children make their own.
    """
    if Mechanism.BARE_ROOT not in missing:
        yield None
        return
    folder = tempfile.TemporaryDirectory(prefix="poor_bench-", ignore_cleanup_errors=True)
    try:
        yield folder.name
    finally:
        with suppress(OSError, RecursionError):
            folder.cleanup()
        with suppress(OSError):
            _remove_deep_folders(Path(folder.name))


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
