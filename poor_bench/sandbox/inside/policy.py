"""How a child locks itself in before it sees any candidate code.

Where children get a file system of their own, all but the resource limits can be put in force
before it is known what they are for; so children can wait, locked in, for an order. What need not
be done in every child is done in the zygote, because all that a child does costs time, above all
through the memory that it touches.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from struct import Struct

from poor_bench.sandbox.inside.descriptors import RULESET, list_detaching_calls
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.linux import namespaces, rights, seccomp
from poor_bench.sandbox.linux.system_calls import PreparedCalls, SystemCall
from poor_bench.sandbox.program import Limits

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


_DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom")
_FIRST_IN_NAMESPACE = 1
"""Process id of a child that has a pid namespace of its own."""


class SandboxPolicy:
    """The walls of this machine.

    Attributes:
        missing: Mechanisms to leave out, and why.
        are_prepared: Whether all that children need no order for was made ready, to part from the
            process that forks them as well.
    """

    def __init__(
        self,
        missing: dict[Mechanism, str],
        readable: Sequence[str],
        user: rights.OtherUser | None = None,
        tasks_outside: int = 0,
    ) -> None:
        """Take note of what there is.

        Args:
            missing: Mechanisms to leave out, and why; all others can be put in force.
            readable: Files and folders that children may read.
            user: Whom children become; None for who they are.
            tasks_outside: See `ResourceLimits`.
        """
        self.missing = missing
        self.are_prepared = False
        self._user = user
        self._tasks_outside = tasks_outside
        self._has_bare_root = Mechanism.BARE_ROOT not in missing
        self._has_own_processes = Mechanism.OWN_PROCESSES not in missing
        self._readable = (*readable, *_DEVICES)
        self._has_file_rules = Mechanism.FILE_RULES not in missing
        self._has_filter = Mechanism.SYSTEM_CALL_FILTER not in missing
        self._resource_limits: ResourceLimits | None = None
        self._early_calls: dict[bool, PreparedCalls] = {}

    def prepare(self) -> None:
        """Do what need not be done in every child.

        Raises:
            OSError: If a mechanism that is not missing cannot be put in force.
        """
        if Mechanism.RESOURCE_LIMITS not in self.missing:
            self._resource_limits = ResourceLimits(self._tasks_outside)
            self._prepare_usual_limits(self._resource_limits)
        if self._has_bare_root and self._has_file_rules:
            ruleset = self._make_ruleset(namespaces.SCRATCH_PARENT)
            os.dup2(ruleset, RULESET)
            os.close(ruleset)
        if self._has_filter:
            seccomp.filter_forking_process()
        # kernels with file rules know all these calls
        self.are_prepared = self._has_bare_root and self._has_own_processes and self._has_file_rules
        if self.are_prepared:
            for is_apart in (False, True):
                calls = self._calls_in_bare_root(_FIRST_IN_NAMESPACE, is_apart=is_apart)
                self._early_calls[is_apart] = PreparedCalls([*list_detaching_calls(), *calls])

    def apply_before_order(self, *, is_apart: bool) -> None:
        """Lock this process in for good, as far as that can be done without an order.

        Args:
            is_apart: Whether its scratch folder is its own.

        Raises:
            OSError: If a mechanism that is not missing cannot be put in force.
        """
        if self.are_prepared:
            self._early_calls[is_apart].make()
        elif self._has_bare_root:
            PreparedCalls(self._calls_in_bare_root(os.getpid(), is_apart=is_apart)).make()

    def apply_with_order(self, limits: Limits, cpu_s: int, scratch: str | None) -> None:
        """Lock this process in for good.

        Args:
            limits: What it may use.
            cpu_s: CPU seconds after which the kernel ends it.
            scratch: The folder in which it may do as it likes; None for that of the bare root.

        Raises:
            OSError: If a mechanism that is not missing cannot be put in force.
        """
        os.chdir(scratch or namespaces.SCRATCH)
        if scratch is not None and sys.platform == "linux":
            ruleset = self._make_ruleset(scratch) if self._has_file_rules else None
            if self._user is not None:
                os.chown(scratch, self._user.number, -1)
            PreparedCalls(self._locking_in(ruleset, os.getpid())).make()
        if self._resource_limits is not None:
            self._resource_limits.put_in_force(limits, cpu_s)

    @contextmanager
    def without_effect(self) -> Iterator[None]:
        """Put up nothing, but go through the same steps, where walls are prepared."""
        with ExitStack() as pretences:
            for calls in self._early_calls.values():
                pretences.enter_context(calls.without_effect())
            if self._resource_limits is not None:
                pretences.enter_context(self._resource_limits.without_effect())
            yield

    def _calls_in_bare_root(self, pid: int, *, is_apart: bool) -> list[SystemCall]:
        entering = namespaces.entering_private_scratch() if is_apart else []
        ruleset = RULESET if self._has_file_rules else None
        return [*entering, *self._locking_in(ruleset, pid)]

    def _prepare_usual_limits(self, resource_limits: ResourceLimits) -> None:
        usual = Limits()
        if sys.platform == "linux":
            for cpu_s in (usual.cpu_s, usual.total_cpu_s):
                resource_limits.prepare(usual, cpu_s)

    def _locking_in(self, ruleset: int | None, pid: int) -> list[SystemCall]:
        """Return the calls that lock a process in once it has a scratch folder."""
        calls = rights.giving_up_privileges(self._user)
        if ruleset is not None:
            calls += rights.keeping_rules(ruleset)
        if self._has_filter:
            calls.append(seccomp.filtering_child(pid))
        return calls

    def _make_ruleset(self, usable: str) -> int:
        return rights.make_ruleset(self._readable, (usable, os.devnull))
