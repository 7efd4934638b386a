"""Scratch folders for children that cannot have a file system of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

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
        # folders nested a thousand deep cannot be removed, and must not end a run
        with suppress(OSError, RecursionError):
            folder.cleanup()
