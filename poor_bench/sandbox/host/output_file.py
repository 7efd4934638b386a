"""The file that takes what a child writes to stdout and stderr."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class OutputFile:
    """A file that outlives the child, so that nothing is lost when that dies.

    It is in memory where the system has such files. The child's limits limit its size. Child and
    reader may share their position in it, which is why reading never moves that.
    """

    def __init__(self) -> None:
        self._n_taken = 0
        self._path: Path | None = None
        if hasattr(os, "memfd_create"):
            self._descriptor = os.memfd_create("output")
        else:
            self._descriptor, name = tempfile.mkstemp(prefix="output-")
            self._path = Path(name)

    def fileno(self) -> int:
        """Return the descriptor that the child inherits."""
        return self._descriptor

    def take(self, max_bytes: int) -> str:
        """Return what was written since the last time, as far as it is within the first bytes."""
        content = self._read(self._n_taken, max(0, max_bytes - self._n_taken))
        self._n_taken += len(content)
        return content.decode("utf-8", "replace")

    def close(self) -> None:
        """Drop the file."""
        os.close(self._descriptor)
        if self._path is not None:
            self._path.unlink()

    def _read(self, start: int, length: int) -> bytes:
        if self._path is None:
            return os.pread(self._descriptor, length, start)
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read(length)
