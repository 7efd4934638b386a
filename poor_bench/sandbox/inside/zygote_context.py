"""What the zygote does before it forks: lock itself in, and try out what its children can use.

Children share the namespaces, the root folder and the privileges of the zygote. Which other
mechanisms are in force on this machine is found out by trying them in a child.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from poor_bench.sandbox.encoding import decode_trusted, encode
from poor_bench.sandbox.inside.descendants import Descendants
from poor_bench.sandbox.inside.policy import ResourceLimits, require_memory_limit
from poor_bench.sandbox.inside.python_files import (
    find_import_folders,
    find_readable_files,
    require_readable,
)
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.linux import namespaces, rights, seccomp, system_calls
from poor_bench.sandbox.linux.system_calls import PreparedCalls
from poor_bench.sandbox.program import Limits

_SWITCHED_OFF = "switched off"
_MORE_DESCRIPTORS_THAN_OPEN = 4096
# threads and processes that the user may start outside while programs run
_MORE_TASKS_OUTSIDE = 768
# ids beyond those that systems and containers give to anybody
_FIRST_UNUSED_USER, _N_UNUSED_USERS = 0x7000_0000, 1_000_000


class ZygoteContext:
    """Where children are forked.

    Attributes:
        missing: Mechanisms that are not in force, and why.
        readable: Files and folders that children may read.
        renew_processes: Gives the next child a pid namespace of its own.
        empty_scratch: Removes all files from the scratch folder that children have in turn.
        user: Whom children must become for the kernel to limit their tasks; None for who they are.
        tasks_outside: Tasks of this user that count along with those of programs, at most.
        counts_tasks: True if the zygote must count the tasks of programs instead of the kernel.
    """

    def __init__(self, avoided: Collection[Mechanism]) -> None:
        self.missing = dict.fromkeys(avoided, _SWITCHED_OFF)
        self.readable: Sequence[str] = ()
        self.renew_processes: Callable[[], None] = lambda: None
        self.empty_scratch: Callable[[], None] = lambda: None
        self.user: rights.OtherUser | None = None
        self.tasks_outside = _MORE_TASKS_OUTSIDE
        self.counts_tasks = False

    def attempt(self, mechanism: Mechanism, action: Callable[[], None], hint: str) -> None:
        """Put one mechanism in force, or note why it cannot be."""
        if mechanism not in self.missing:
            try:
                action()
            except OSError as error:
                self.missing[mechanism] = f"{error.strerror or error}{hint}"


def enter_zygote_context(avoided: Collection[Mechanism], descendants: Descendants) -> ZygoteContext:
    """Lock this process in as far as the system allows, and find out how far that is.

    Where processes can be kept apart, the rest of the program runs in a new process; this one
    waits for its end and ends with it.

    Args:
        avoided: Mechanisms to do without.
        descendants: Counts tasks where the kernel does not.
    """
    context = ZygoteContext(avoided)
    further_user = None
    if sys.platform == "linux":
        if os.geteuid() == 0:
            further_user = _FIRST_UNUSED_USER + os.getpid() % _N_UNUSED_USERS
        _enter_linux_context(context, further_user)
    else:
        for mechanism in Mechanism:
            if mechanism is not Mechanism.RESOURCE_LIMITS:
                context.missing.setdefault(mechanism, "only Linux has it")
    context.missing.update(_find_missing(set(Mechanism) - context.missing.keys()))
    if Mechanism.BARE_ROOT not in context.missing:
        # only the filter keeps programs from changing the folder itself
        is_filtered = Mechanism.SYSTEM_CALL_FILTER not in context.missing
        context.empty_scratch = (
            namespaces.clear_scratch if is_filtered else namespaces.renew_scratch
        )
    _limit_tasks(context, descendants, further_user)
    return context


def _enter_linux_context(context: ZygoteContext, further_user: int | None) -> None:
    def share_no_processes() -> None:
        namespaces.enter_new(system_calls.CLONE_NEWPID)
        _continue_in_child()
        rights.die_with_parent()
        context.renew_processes = namespaces.prepare_pid_renewal().make

    def share_no_files() -> None:
        namespaces.enter_new(system_calls.CLONE_NEWNS)
        namespaces.enter_bare_root(context.readable)
        os.environ.update(HOME=namespaces.SCRATCH, TMPDIR=namespaces.SCRATCH)

    context.tasks_outside += _count_tasks_of_user()
    hint = ""
    try:
        namespaces.become_namespace_owner(further_user)
        if namespaces.counts_tasks_apart():
            context.tasks_outside = 0
    except OSError as error:
        hint = f" (no user namespace: {error.strerror})"
    context.readable = find_readable_files()
    rights.adopt_orphans()
    network = system_calls.CLONE_NEWNET | system_calls.CLONE_NEWIPC
    context.attempt(Mechanism.OWN_NETWORK, lambda: namespaces.enter_new(network), hint)
    context.attempt(Mechanism.OWN_PROCESSES, share_no_processes, hint)
    # last: files that were needed so far are out of sight from then on
    context.attempt(Mechanism.BARE_ROOT, share_no_files, hint)
    rights.forbid_new_privileges()


def _count_tasks_of_user() -> int:
    """Count the threads and processes of this user, as far as they can be seen."""
    n_tasks = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            folder = f"/proc/{process}/task"
            if os.stat(folder).st_uid == os.geteuid():
                n_tasks += len(os.listdir(folder))
    return n_tasks


def _continue_in_child() -> None:
    """Go on in a new process, for which this one waits; returns in the new process only."""
    child = os.fork()
    if child == 0:
        return
    os.closerange(0, _MORE_DESCRIPTORS_THAN_OPEN)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _limit_tasks(
    context: ZygoteContext, descendants: Descendants, further_user: int | None
) -> None:
    """Find out who limits the tasks of programs: the kernel, this process, or nobody."""
    missing = context.missing
    if Mechanism.RESOURCE_LIMITS in missing:
        missing.setdefault(Mechanism.TASK_LIMIT, "resource limits are missing")
    if Mechanism.TASK_LIMIT not in missing:
        _choose_task_user(context, further_user)
    is_limited = Mechanism.TASK_LIMIT not in missing and not context.tasks_outside
    if is_limited or missing.get(Mechanism.TASK_LIMIT) == _SWITCHED_OFF:
        return
    problem = descendants.explain_uncountable()
    if problem:
        missing.setdefault(Mechanism.TASK_LIMIT, f"tasks cannot be counted: {problem}")
    else:
        missing.pop(Mechanism.TASK_LIMIT, None)
        context.counts_tasks = True


def _choose_task_user(context: ZygoteContext, further_user: int | None) -> None:
    """Choose whom children become: the first user whose tasks the kernel limits, if any."""
    users: list[rights.OtherUser | None] = [None]
    if further_user is not None:
        users += [rights.OtherUser(further_user), rights.OtherUser(further_user, reads_all=True)]
    for user in users:
        reason: str = _run_in_child(partial(_explain_unlimited_tasks, user))
        if not reason:
            context.missing.pop(Mechanism.TASK_LIMIT, None)
            context.user = user
            if user is not None:
                context.tasks_outside = 0
            return
        context.missing[Mechanism.TASK_LIMIT] = reason


def _explain_unlimited_tasks(user: rights.OtherUser | None) -> str:
    """Try why the kernel does not limit the tasks of a user; empty if it does."""
    import resource  # not on Windows

    folders = [] if user is None else find_import_folders()
    try:
        PreparedCalls(rights.list_privilege_calls(user)).make()
        require_readable(folders)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        _thread.start_new_thread(os.getpid, ())
    except RuntimeError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return "the kernel does not limit the tasks of this user"


def _find_missing(candidates: Collection[Mechanism]) -> dict[Mechanism, str]:
    """Try in a child which of some mechanisms cannot be put in force, and why."""
    reasons = _run_in_child(lambda: _try_steps(candidates))
    return {Mechanism(name): reason for name, reason in reasons.items()}


def _run_in_child(action: Callable[[], Any]) -> Any:
    """Call a function in a child process that ends afterwards; its result is plain data."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, encode(action()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as report:
        made = decode_trusted(report.read())
    os.waitpid(child, 0)
    return made


def _try_steps(candidates: Collection[Mechanism]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for mechanism, put_in_force in _list_steps():
        try:
            if mechanism in candidates:
                put_in_force()
        except OSError as error:
            reasons[mechanism.value] = error.strerror or str(error)
    return reasons


def _list_steps() -> list[tuple[Mechanism, Callable[[], None]]]:
    """List what a zygote and its children do, in the same order."""

    def enter_private_scratch() -> None:
        PreparedCalls(namespaces.list_private_scratch_calls()).make()

    def rule_files() -> None:
        ruleset = rights.make_ruleset((), (os.devnull,))
        PreparedCalls(rights.list_rule_calls(ruleset)).make()

    def filter_child() -> None:
        PreparedCalls([seccomp.make_filter_call(os.getpid())]).make()

    def limit_resources() -> None:
        ResourceLimits().put_in_force(limits, limits.cpu_s)
        require_memory_limit(limits)

    limits = Limits()
    steps: list[tuple[Mechanism, Callable[[], None]]] = [
        (Mechanism.SYSTEM_CALL_FILTER, seccomp.filter_zygote),
        (Mechanism.BARE_ROOT, enter_private_scratch),
        (Mechanism.FILE_RULES, rule_files),
        (Mechanism.SYSTEM_CALL_FILTER, filter_child),
        (Mechanism.RESOURCE_LIMITS, limit_resources),
    ]
    return steps if sys.platform == "linux" else steps[-1:]
