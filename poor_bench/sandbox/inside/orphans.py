"""Processes that outlived the child that started them."""

from __future__ import annotations

import os
import signal
from collections.abc import Container, Iterator
from contextlib import suppress

_MAX_ROUNDS = 1000


class Orphans:
    """Finds and kills what a child left behind.

    The kernel hands orphans to this process (see `adopt_orphans`), which finds them among all
    processes. That is slow, and only needed where children may fork and have no pid namespace of
    their own.
    """

    def __init__(self) -> None:
        """Get hold of the list of processes, before it is out of sight."""
        self._processes: int | None = None
        with suppress(OSError):
            self._processes = os.open("/proc", os.O_RDONLY | os.O_CLOEXEC)

    def kill(self, child: int, keep: Container[int]) -> None:
        """Kill all that an ended child left behind.

        Args:
            child: Its process group.
            keep: Children of this process that are no orphans.
        """
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        for _ in range(_MAX_ROUNDS):
            found = [orphan for orphan in self._children() if orphan not in keep]
            if not found:
                return
            for orphan in found:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(orphan, signal.SIGKILL)
                    os.waitpid(orphan, 0)

    def _children(self) -> Iterator[int]:
        if self._processes is None:
            return
        own = str(os.getpid())
        with os.scandir(self._processes) as entries:
            for entry in entries:
                if entry.name.isdigit() and self._parent_of(entry.name) == own:
                    yield int(entry.name)

    def _parent_of(self, process: str) -> str:
        """Return the process's parent; the status line is `pid (name) state parent ...`."""
        with suppress(OSError):
            status = os.open(f"{process}/stat", os.O_RDONLY, dir_fd=self._processes)
            with os.fdopen(status, "rb") as file:
                return file.read().rpartition(b")")[2].split()[1].decode()
        return ""
