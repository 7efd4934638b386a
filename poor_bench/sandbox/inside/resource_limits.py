"""The kernel's limits on what a process uses."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from struct import Struct

from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall

_THIS_PROCESS = 0
_LIMIT = Struct("=QQ")
"""struct rlimit64: soft and hard limit."""


class ResourceLimits:
    """The kernel's limits, made ready in one process and put in force in its children."""

    def __init__(self, tasks_outside: int = 0) -> None:
        """Take note of what can be limited, and how far it is already.

        Args:
            tasks_outside: Threads and processes that the kernel counts along with those of
                programs, at most.
        """
        import resource  # not on Windows

        kinds = [
            resource.RLIMIT_CPU,
            resource.RLIMIT_AS,
            resource.RLIMIT_FSIZE,
            resource.RLIMIT_NOFILE,
            resource.RLIMIT_CORE,
            resource.RLIMIT_NPROC,
        ]
        self._tasks_outside = tasks_outside
        self._highest = [(kind, _largest_amount(resource.getrlimit(kind)[1])) for kind in kinds]
        self._set_limit = resource.setrlimit
        self._prepared: dict[tuple[Limits, int], PreparedCalls] = {}

    def prepare(self, limits: Limits, cpu_s: int) -> None:
        """Make limits ready that many children will have; see `put_in_force`. Only for Linux."""
        calls = [
            SystemCall("prlimit64", (_THIS_PROCESS, kind, _LIMIT.pack(allowed, allowed), None))
            for kind, allowed in self._allowed(limits, cpu_s)
        ]
        self._prepared[limits, cpu_s] = PreparedCalls(calls)

    @contextmanager
    def without_effect(self) -> Iterator[None]:
        """Limit nothing where limits that were made ready are put in force."""
        with ExitStack() as pretences:
            for calls in self._prepared.values():
                pretences.enter_context(calls.without_effect())
            yield

    def put_in_force(self, limits: Limits, cpu_s: int) -> None:
        """Limit this process for good.

        Args:
            limits: What it may use.
            cpu_s: CPU seconds after which the kernel ends it.
        """
        prepared = self._prepared.get((limits, cpu_s))
        if prepared is not None:
            prepared.make()
            return
        for kind, allowed in self._allowed(limits, cpu_s):
            self._set_limit(kind, (allowed, allowed))

    def _allowed(self, limits: Limits, cpu_s: int) -> list[tuple[int, int]]:
        """Return what to set each kind of limit to."""
        of_files = limits.file_bytes, limits.open_files
        amounts = cpu_s, limits.memory_bytes, *of_files, 0, self._tasks_outside + limits.tasks
        return [
            (kind, min(amount, highest))
            for (kind, highest), amount in zip(self._highest, amounts, strict=True)
        ]


def _largest_amount(hard: int) -> int:
    """Return the highest number that a hard limit allows; the kernel's "no limit" is negative."""
    return hard if hard >= 0 else sys.maxsize


def require_memory_limit(limits: Limits) -> None:
    """Make sure that the kernel keeps the limit for memory, which some only store.

    Raises:
        OSError: If it does not.
    """
    try:
        mmap.mmap(-1, limits.memory_bytes + 1).close()
    except OSError:
        return
    raise OSError(0, "the kernel does not keep the limit for memory")
