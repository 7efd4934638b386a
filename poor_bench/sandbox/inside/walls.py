"""A child's own walls, put up before it sees any candidate code.

Where children get a file system of their own, all but the limits can be put up before it is known
what they are for; so children can wait, locked in, for an order. What need not be done in every
child is done in the zygote, because all that a child does costs time, above all through the memory
that it touches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from poor_bench.sandbox.inside.descriptors import RULESET, parting_calls
from poor_bench.sandbox.inside.resource_limits import ResourceLimits
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.linux import landlock, privileges, root_filesystem, seccomp
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls, SystemCall

_DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom")
_FIRST_IN_NAMESPACE = 1
"""Process id of a child that has a pid namespace of its own."""


class Walls:
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
        user: privileges.OtherUser | None = None,
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
            ruleset = self._make_ruleset(root_filesystem.SCRATCH_PARENT)
            os.dup2(ruleset, RULESET)
            os.close(ruleset)
        if self._has_filter:
            seccomp.filter_forking_process()
        # kernels with file rules know all these calls
        self.are_prepared = self._has_bare_root and self._has_own_processes and self._has_file_rules
        if self.are_prepared:
            for is_apart in (False, True):
                calls = self._calls_in_bare_root(_FIRST_IN_NAMESPACE, is_apart=is_apart)
                self._early_calls[is_apart] = PreparedCalls([*parting_calls(), *calls])

    def put_up_early(self, *, is_apart: bool) -> None:
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

    def put_up_rest(self, limits: Limits, cpu_s: int, scratch: str | None) -> None:
        """Lock this process in for good.

        Args:
            limits: What it may use.
            cpu_s: CPU seconds after which the kernel ends it.
            scratch: The folder in which it may do as it likes; None for that of the bare root.

        Raises:
            OSError: If a mechanism that is not missing cannot be put in force.
        """
        os.chdir(scratch or root_filesystem.SCRATCH)
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
        entering = root_filesystem.entering_private_scratch() if is_apart else []
        ruleset = RULESET if self._has_file_rules else None
        return [*entering, *self._locking_in(ruleset, pid)]

    def _prepare_usual_limits(self, resource_limits: ResourceLimits) -> None:
        usual = Limits()
        if sys.platform == "linux":
            for cpu_s in (usual.cpu_s, usual.cpu_s_in_all):
                resource_limits.prepare(usual, cpu_s)

    def _locking_in(self, ruleset: int | None, pid: int) -> list[SystemCall]:
        """Return the calls that lock a process in once it has a scratch folder."""
        calls = privileges.giving_up_privileges(self._user)
        if ruleset is not None:
            calls += landlock.keeping_rules(ruleset)
        if self._has_filter:
            calls.append(seccomp.filtering_child(pid))
        return calls

    def _make_ruleset(self, usable: str) -> int:
        return landlock.make_ruleset(self._readable, (usable, os.devnull))
