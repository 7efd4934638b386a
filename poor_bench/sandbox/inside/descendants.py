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
_LINKS_OF_EMPTY_FOLDER = 2


class Descendants:
    """Looks at the descendants of this process, which may be in namespaces of their own."""

    def __init__(self) -> None:
        """Get hold of the list of processes, before it is out of sight."""
        self._processes: int | None = None
        with suppress(OSError):
            self._processes = os.open("/proc", os.O_RDONLY | os.O_CLOEXEC)

    def kill_orphans(self, child: int, keep: Container[int]) -> None:
        """Kill all that an ended child left behind.

        The kernel hands orphans to this process (see `adopt_orphans`), which finds them among all
        processes. That is slow, and only needed where children may fork and have no pid namespace
        of their own.

        Args:
            child: Its process group.
            keep: Children of this process that are not orphans.
        """
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        # an orphan may fork while the others are killed: look until none is left
        for _ in range(_MAX_ROUNDS):
            found = [orphan for orphan in self._find_children() if orphan not in keep]
            if not found:
                return
            for orphan in found:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(orphan, signal.SIGKILL)
                    os.waitpid(orphan, 0)

    def explain_uncountable(self) -> str:
        """Explain why tasks cannot be counted; empty if they can."""
        if self._processes is None:
            return "the list of processes cannot be read"
        try:
            own = self._find_own_name()
            self._read_children(own)
            is_right = self._count_threads(own) == 1
        except OSError as error:
            return error.strerror or str(error)
        return "" if is_right else "the kernel does not count threads"

    def count_tasks(self, most: int, apart_from: Collection[int]) -> int:
        """Count the threads and processes that descend from this one.

        Args:
            most: Counting may stop beyond this number.
            apart_from: Children of this process that are excluded, with all that they started.
        """
        n_tasks = 0
        with suppress(OSError):
            own = self._find_own_name()
            # a process has a number in each namespace from that of the list inwards; ours is the
            # one at this depth
            depth = len(self._read_numbers(own)) - 1
            waiting = [
                child
                for child in self._read_children(own)
                if int(self._read_numbers(child)[depth]) not in apart_from
            ]
            while waiting and n_tasks <= most:
                with suppress(OSError):  # it may have ended
                    process = waiting.pop()
                    n_tasks += self._count_threads(process)
                    waiting += self._read_children(process)
        return n_tasks

    def _find_children(self) -> Iterator[int]:
        """Find the children of this process among all processes, on any kernel with /proc."""
        if self._processes is None:
            return
        own = str(os.getpid())
        with os.scandir(self._processes) as entries:
            for entry in entries:
                # the line is `pid (name) state parent ...`, and a name may hold anything
                with suppress(OSError):
                    if entry.name.isdigit() and (
                        self._read(f"{entry.name}/stat").rpartition(")")[2].split()[1] == own
                    ):
                        yield int(entry.name)

    def _find_own_name(self) -> str:
        """Find this process's number where the list was opened."""
        return os.readlink("self", dir_fd=self._processes)

    def _count_threads(self, process: str) -> int:
        folder = os.stat(f"{process}/task", dir_fd=self._processes)
        return folder.st_nlink - _LINKS_OF_EMPTY_FOLDER

    def _read_children(self, process: str) -> list[str]:
        """Read the children of all threads of a process; see proc(5)."""
        folder = os.open(f"{process}/task", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        try:
            threads = os.listdir(folder)
        finally:
            os.close(folder)
        files = (f"{process}/task/{thread}/children" for thread in threads)
        return [child for file in files for child in self._read(file).split()]

    def _read_numbers(self, process: str) -> list[str]:
        """Read the numbers of a process, from the namespace of the list inwards."""
        for line in self._read(f"{process}/status").splitlines():
            name, _, numbers = line.partition(":")
            if name == "NSpid":
                return numbers.split()
        raise OSError(0, "the kernel does not tell numbers of processes")

    def _read(self, path: str) -> str:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        with os.fdopen(descriptor, errors="replace") as file:
            return file.read()
