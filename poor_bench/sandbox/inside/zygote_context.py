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
from typing import Any

from poor_bench.sandbox.inside.policy import ResourceLimits, require_memory_limit
from poor_bench.sandbox.inside.python_files import import_folders, readable_files, require_readable
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.linux import namespaces, rights, seccomp, system_calls
from poor_bench.sandbox.linux.system_calls import PreparedCalls
from poor_bench.sandbox.program import Limits
from poor_bench.sandbox.wire.encoding import decode_trusted, encode

_ONLY_LINUX = (
    Mechanism.TASK_LIMIT,
    Mechanism.SYSTEM_CALL_FILTER,
    Mechanism.FILE_RULES,
    Mechanism.BARE_ROOT,
    Mechanism.OWN_NETWORK,
    Mechanism.OWN_PROCESSES,
)
SWITCHED_OFF = "switched off"
"""Why a mechanism is not in force that is to be done without."""
_MORE_DESCRIPTORS_THAN_OPEN = 4096
_MORE_TASKS_OUTSIDE = 768
"""Threads and processes that the user may start outside while programs run."""
_FIRST_UNUSED_USER, _N_UNUSED_USERS = 0x7000_0000, 1_000_000
"""Ids beyond those that systems and containers give to anybody."""


class ZygoteContext:
    """Where children are forked.

    Attributes:
        missing: Mechanisms that are not in force, and why.
        readable: Files and folders that children may read.
        renew_processes: Gives the next child a pid namespace of its own.
        empty_scratch: Removes all files from the scratch folder that children have in turn.
        renew_scratch: Does so at more cost, and undoes changes of the folder itself as well.
        further_user: Whom programs can run as where this process is root; else None.
        tasks_outside: Tasks of this user that count along with those of programs, at most.
        hint: What probably keeps mechanisms from being in force.
    """

    def __init__(self, missing: dict[Mechanism, str]) -> None:
        self.missing = missing
        self.readable: Sequence[str] = ()
        self.renew_processes: Callable[[], None] = lambda: None
        self.empty_scratch: Callable[[], None] = lambda: None
        self.renew_scratch: Callable[[], None] = lambda: None
        self.further_user: int | None = None
        self.tasks_outside = _MORE_TASKS_OUTSIDE
        self.hint = ""

    def attempt(self, mechanism: Mechanism, action: Callable[[], None]) -> None:
        """Put up one wall, or note why it cannot stand."""
        if mechanism in self.missing:
            return
        try:
            action()
        except OSError as error:
            self.missing[mechanism] = f"{error.strerror or error}{self.hint}"


def enter_zygote_context(avoided: Collection[Mechanism]) -> ZygoteContext:
    """Lock this process in as far as the system allows, and say how far that is.

    Where processes can be kept apart, the rest of the program runs in a new process; this one
    waits for its end and ends with it.

    Args:
        avoided: Mechanisms to do without.
    """
    surroundings = ZygoteContext(missing=dict.fromkeys(avoided, SWITCHED_OFF))
    if sys.platform != "linux":
        for mechanism in _ONLY_LINUX:
            surroundings.missing.setdefault(mechanism, "only Linux has it")
        return surroundings
    _enter_linux_context(surroundings)
    return surroundings


def _enter_linux_context(surroundings: ZygoteContext) -> None:
    def share_no_processes() -> None:
        namespaces.enter_new(system_calls.CLONE_NEWPID)
        _continue_in_child()
        rights.die_with_parent()
        surroundings.renew_processes = namespaces.renewing_pid_namespace().make

    def share_no_files() -> None:
        namespaces.enter_new(system_calls.CLONE_NEWNS)
        namespaces.enter_bare_root(surroundings.readable)
        surroundings.empty_scratch = namespaces.empty_scratch
        surroundings.renew_scratch = namespaces.renew_scratch
        os.environ.update(HOME=namespaces.SCRATCH, TMPDIR=namespaces.SCRATCH)

    surroundings.tasks_outside += _tasks_of_user()
    if os.geteuid() == 0:
        surroundings.further_user = _FIRST_UNUSED_USER + os.getpid() % _N_UNUSED_USERS
    try:
        namespaces.become_namespace_owner(surroundings.further_user)
        if namespaces.count_tasks_apart():
            surroundings.tasks_outside = 0
    except OSError as error:
        surroundings.hint = f" (no user namespace: {error.strerror})"
    surroundings.readable = readable_files()
    rights.adopt_orphans()
    surroundings.attempt(
        Mechanism.OWN_NETWORK,
        lambda: namespaces.enter_new(system_calls.CLONE_NEWNET | system_calls.CLONE_NEWIPC),
    )
    surroundings.attempt(Mechanism.OWN_PROCESSES, share_no_processes)
    surroundings.attempt(Mechanism.BARE_ROOT, share_no_files)
    rights.forbid_new_privileges()


def _tasks_of_user() -> int:
    """Return how many threads and processes this user has as far as can be seen."""
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


def find_missing_mechanisms(candidates: Collection[Mechanism]) -> dict[Mechanism, str]:
    """Try in a child which of some mechanisms cannot be put in force, and return why."""
    reasons = _in_child(lambda: _reasons(candidates))
    return {Mechanism(name): reason for name, reason in reasons.items()}


def explain_missing_task_limit(user: rights.OtherUser | None) -> str:
    """Try in a child why the kernel does not limit the tasks of a user; empty if it does.

    Args:
        user: Whom the child becomes; None for who it is.
    """
    reason: str = _in_child(lambda: _why_tasks_are_not_limited(user))
    return reason


def _why_tasks_are_not_limited(user: rights.OtherUser | None) -> str:
    import resource  # not on Windows

    folders = [] if user is None else import_folders()
    try:
        PreparedCalls(rights.giving_up_privileges(user)).make()
        require_readable(folders)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        _thread.start_new_thread(os.getpid, ())
    except RuntimeError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return "the kernel does not limit the tasks of this user"


def _in_child(action: Callable[[], Any]) -> Any:
    """Return what a function makes of plain data in a child that is gone afterwards."""
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


def _reasons(candidates: Collection[Mechanism]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for mechanism, put_in_force in _steps():
        try:
            if mechanism in candidates:
                put_in_force()
        except OSError as error:
            reasons[mechanism.value] = error.strerror or str(error)
    return reasons


def _steps() -> list[tuple[Mechanism, Callable[[], None]]]:
    """Return what a zygote and its children do, in the same order."""
    limits = Limits()
    limiting: list[tuple[Mechanism, Callable[[], None]]] = [
        (
            Mechanism.RESOURCE_LIMITS,
            lambda: ResourceLimits().put_in_force(limits, limits.cpu_s),
        ),
        (Mechanism.RESOURCE_LIMITS, lambda: require_memory_limit(limits)),
    ]
    if sys.platform != "linux":
        return limiting
    return [
        (Mechanism.SYSTEM_CALL_FILTER, seccomp.filter_forking_process),
        (Mechanism.BARE_ROOT, _enter_private_scratch),
        (Mechanism.FILE_RULES, _rule_files),
        (Mechanism.SYSTEM_CALL_FILTER, _filter_child),
        *limiting,
    ]


def _enter_private_scratch() -> None:
    PreparedCalls(namespaces.entering_private_scratch()).make()


def _rule_files() -> None:
    ruleset = rights.make_ruleset((), (os.devnull,))
    PreparedCalls(rights.keeping_rules(ruleset)).make()


def _filter_child() -> None:
    PreparedCalls([seccomp.filtering_child(os.getpid())]).make()
