"""The zygote's own walls, which all its children share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from poor_bench.sandbox.inside.python_files import readable_files
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.linux import libc, namespaces, privileges, root_filesystem

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


class Surroundings:
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


def enter_surroundings(avoided: Collection[Mechanism]) -> Surroundings:
    """Lock this process in as far as the system allows, and say how far that is.

    Where processes can be kept apart, the rest of the program runs in a new process; this one
    waits for its end and ends with it.

    Args:
        avoided: Mechanisms to do without.
    """
    surroundings = Surroundings(missing=dict.fromkeys(avoided, SWITCHED_OFF))
    if sys.platform != "linux":
        for mechanism in _ONLY_LINUX:
            surroundings.missing.setdefault(mechanism, "only Linux has it")
        return surroundings
    _enter_linux_surroundings(surroundings)
    return surroundings


def _enter_linux_surroundings(surroundings: Surroundings) -> None:
    def share_no_processes() -> None:
        namespaces.enter_new(libc.CLONE_NEWPID)
        _continue_in_child()
        privileges.die_with_parent()
        surroundings.renew_processes = namespaces.renewing_pid_namespace().make

    def share_no_files() -> None:
        namespaces.enter_new(libc.CLONE_NEWNS)
        root_filesystem.enter_bare_root(surroundings.readable)
        surroundings.empty_scratch = root_filesystem.empty_scratch
        surroundings.renew_scratch = root_filesystem.renew_scratch
        os.environ.update(HOME=root_filesystem.SCRATCH, TMPDIR=root_filesystem.SCRATCH)

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
    privileges.adopt_orphans()
    surroundings.attempt(
        Mechanism.OWN_NETWORK,
        lambda: namespaces.enter_new(libc.CLONE_NEWNET | libc.CLONE_NEWIPC),
    )
    surroundings.attempt(Mechanism.OWN_PROCESSES, share_no_processes)
    surroundings.attempt(Mechanism.BARE_ROOT, share_no_files)
    privileges.forbid_new_privileges()


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
