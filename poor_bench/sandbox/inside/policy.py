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

_DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom")
_FIRST_IN_NAMESPACE = 1  # process id of a child that has a pid namespace of its own
_THIS_PROCESS = 0
_LIMIT = Struct("=QQ")  # struct rlimit64: soft and hard limit


class SandboxPolicy:
    """What this machine can put in force for children.

    Attributes:
        missing: Mechanisms that are not in force, and why.
        is_prepared: True if all that children need no order for was made ready, their detaching
            from the process that forks them included.
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
        self.is_prepared = False
        self._user = user
        self._tasks_outside = tasks_outside
        self._readable = (*readable, *_DEVICES)
        self._has_bare_root = Mechanism.BARE_ROOT not in missing
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
            self._resource_limits.prepare_usual()
        if self._has_bare_root and self._has_file_rules:
            ruleset = self._make_ruleset(namespaces.SCRATCH_PARENT)
            os.dup2(ruleset, RULESET)
            os.close(ruleset)
        if self._has_filter:
            seccomp.filter_zygote()
        # the calls are prepared for a known process id; kernels with file rules know all of them
        self.is_prepared = not self.missing.keys() & {
            Mechanism.BARE_ROOT,
            Mechanism.OWN_PROCESSES,
            Mechanism.FILE_RULES,
        }
        if self.is_prepared:
            for is_apart in (False, True):
                calls = self._list_calls_in_bare_root(_FIRST_IN_NAMESPACE, is_apart=is_apart)
                self._early_calls[is_apart] = PreparedCalls([*list_detaching_calls(), *calls])

    def apply_before_order(self, *, is_apart: bool) -> None:
        """Lock this process in for good, as far as that can be done without an order.

        Args:
            is_apart: Give it a scratch folder of its own.

        Raises:
            OSError: If a mechanism that is not missing cannot be put in force.
        """
        if self.is_prepared:
            self._early_calls[is_apart].make()
        elif self._has_bare_root:
            PreparedCalls(self._list_calls_in_bare_root(os.getpid(), is_apart=is_apart)).make()

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
            PreparedCalls(self._list_locking_calls(ruleset, os.getpid())).make()
        if self._resource_limits is not None:
            self._resource_limits.put_in_force(limits, cpu_s)

    @contextmanager
    def without_effect(self) -> Iterator[None]:
        """Put nothing in force, but go through the same steps, where calls are prepared."""
        prepared = [*self._early_calls.values()]
        if self._resource_limits is not None:
            prepared += self._resource_limits.prepared.values()
        with ExitStack() as pretences:
            for calls in prepared:
                pretences.enter_context(calls.without_effect())
            yield

    def _list_calls_in_bare_root(self, pid: int, *, is_apart: bool) -> list[SystemCall]:
        entering = namespaces.list_private_scratch_calls() if is_apart else []
        ruleset = RULESET if self._has_file_rules else None
        return [*entering, *self._list_locking_calls(ruleset, pid)]

    def _list_locking_calls(self, ruleset: int | None, pid: int) -> list[SystemCall]:
        """List the calls that lock a process in once it has a scratch folder.

        The order is forced: file rules and the filter stay, and the filter takes away all that the
        others need, itself included.
        """
        calls = rights.list_privilege_calls(self._user)
        if ruleset is not None:
            calls += rights.list_rule_calls(ruleset)
        if self._has_filter:
            calls.append(seccomp.make_filter_call(pid))
        return calls

    def _make_ruleset(self, usable: str) -> int:
        return rights.make_ruleset(self._readable, (usable, os.devnull))


class ResourceLimits:
    """The kernel's limits, made ready in one process and put in force in its children.

    Attributes:
        prepared: The calls that were made ready, by limits and CPU seconds.
    """

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
        hard_limits = [(kind, resource.getrlimit(kind)[1]) for kind in kinds]
        # the kernel's "no limit" is negative
        self._highest = [(kind, hard if hard >= 0 else sys.maxsize) for kind, hard in hard_limits]
        self._tasks_outside = tasks_outside
        self._set_limit = resource.setrlimit
        self.prepared: dict[tuple[Limits, int], PreparedCalls] = {}

    def prepare_usual(self) -> None:
        """Make the limits ready that most children have; see `put_in_force`."""
        if sys.platform == "linux":
            usual = Limits()
            for cpu_s in (usual.cpu_s, usual.total_cpu_s):
                calls = [
                    SystemCall("prlimit64", (_THIS_PROCESS, kind, _LIMIT.pack(most, most), None))
                    for kind, most in self._list_allowed(usual, cpu_s)
                ]
                self.prepared[usual, cpu_s] = PreparedCalls(calls)

    def put_in_force(self, limits: Limits, cpu_s: int) -> None:
        """Limit this process for good.

        Args:
            limits: What it may use.
            cpu_s: CPU seconds after which the kernel ends it.
        """
        prepared = self.prepared.get((limits, cpu_s))
        if prepared is not None:
            prepared.make()
            return
        for kind, allowed in self._list_allowed(limits, cpu_s):
            self._set_limit(kind, (allowed, allowed))

    def _list_allowed(self, limits: Limits, cpu_s: int) -> list[tuple[int, int]]:
        """List what to set each kind of limit to."""
        of_files = limits.file_bytes, limits.open_files
        amounts = cpu_s, limits.memory_bytes, *of_files, 0, self._tasks_outside + limits.tasks
        return [
            (kind, min(amount, highest))
            for (kind, highest), amount in zip(self._highest, amounts, strict=True)
        ]


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
