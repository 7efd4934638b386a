"""Descendants of the zygote: killed where they outlive their parent, counted where no limit holds.

The kernel limits the tasks of a user, and not those of root: an ordinary user without a user
namespace shares one number among all programs and everything else. There the zygote counts the
threads and processes of the program that runs, and kills it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Container, Iterator
from contextlib import suppress

_MAX_ROUNDS = 1000


class OrphanReaper:
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


_LINKS_OF_EMPTY_FOLDER = 2


class TaskCounter:
    """Looks at the descendants of this process, which may be in namespaces of their own."""

    def __init__(self) -> None:
        """Get hold of the list of processes, before it is out of sight."""
        self._processes: int | None = None
        with suppress(OSError):
            self._processes = os.open("/proc", os.O_RDONLY | os.O_CLOEXEC)

    def problem(self) -> str:
        """Say why tasks cannot be counted; empty if they can."""
        if self._processes is None:
            return "the list of processes cannot be read"
        try:
            own = self._own_name()
            self._children_of(own)
            is_right = self._n_threads(own) == 1
        except OSError as error:
            return error.strerror or str(error)
        return "" if is_right else "the kernel does not count threads"

    def n_tasks(self, most: int, apart_from: Collection[int]) -> int:
        """Return how many threads and processes descend from this one.

        Args:
            most: Counting may stop beyond this number.
            apart_from: Children of this process that are left out, with all that they started.
        """
        with suppress(OSError):
            own = self._own_name()
            left_out = len(self._numbers_of(own)) - 1
            children = self._children_of(own)
            counted = [
                child for child in children if self._number_here(child, left_out) not in apart_from
            ]
            return self._n_tasks_of(counted, most)
        return 0

    def _n_tasks_of(self, processes: list[str], most: int) -> int:
        n_tasks = 0
        waiting = list(processes)
        while waiting and n_tasks <= most:
            with suppress(OSError):  # it may have ended
                process = waiting.pop()
                n_tasks += self._n_threads(process)
                if n_tasks <= most:
                    waiting += self._children_of(process)
        return n_tasks

    def _own_name(self) -> str:
        """Return this process's number where the list was opened."""
        return os.readlink("self", dir_fd=self._processes)

    def _n_threads(self, process: str) -> int:
        folder = os.stat(f"{process}/task", dir_fd=self._processes)
        return folder.st_nlink - _LINKS_OF_EMPTY_FOLDER

    def _children_of(self, process: str) -> list[str]:
        """Return the children of all threads of a process; see proc(5)."""
        return [
            child
            for thread in self._threads_of(process)
            for child in self._read(f"{process}/task/{thread}/children").split()
        ]

    def _threads_of(self, process: str) -> Iterator[str]:
        folder = os.open(f"{process}/task", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        try:
            yield from os.listdir(folder)
        finally:
            os.close(folder)

    def _number_here(self, process: str, depth: int) -> int:
        """Return the number that a process has in the namespace of this one."""
        return int(self._numbers_of(process)[depth])

    def _numbers_of(self, process: str) -> list[str]:
        """Return the numbers of a process, from the namespace of the list inwards."""
        for line in self._read(f"{process}/status").splitlines():
            name, _, numbers = line.partition(":")
            if name == "NSpid":
                return numbers.split()
        raise OSError(0, "the kernel does not tell numbers of processes")

    def _read(self, path: str) -> str:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)) as file:
            return file.read()
