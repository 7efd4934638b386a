"""Finds out which walls a child can put up on this machine, by trying."""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable, Collection
from typing import Any

from poor_bench.sandbox.inside.python_files import import_folders, require_readable
from poor_bench.sandbox.inside.resource_limits import ResourceLimits, require_memory_limit
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.linux import landlock, privileges, root_filesystem, seccomp
from poor_bench.sandbox.linux.prepared_calls import PreparedCalls
from poor_bench.sandbox.wire.encoding import decode_trusted, encode


def missing_walls(candidates: Collection[Mechanism]) -> dict[Mechanism, str]:
    """Try in a child which of some mechanisms cannot be put in force, and return why."""
    reasons = _in_child(lambda: _reasons(candidates))
    return {Mechanism(name): reason for name, reason in reasons.items()}


def missing_task_limit(user: privileges.OtherUser | None) -> str:
    """Try in a child why the kernel does not limit the tasks of a user; empty if it does.

    Args:
        user: Whom the child becomes; None for who it is.
    """
    reason: str = _in_child(lambda: _why_tasks_are_not_limited(user))
    return reason


def _why_tasks_are_not_limited(user: privileges.OtherUser | None) -> str:
    import resource  # not on Windows

    folders = [] if user is None else import_folders()
    try:
        PreparedCalls(privileges.giving_up_privileges(user)).make()
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
    PreparedCalls(root_filesystem.entering_private_scratch()).make()


def _rule_files() -> None:
    ruleset = landlock.make_ruleset((), (os.devnull,))
    PreparedCalls(landlock.keeping_rules(ruleset)).make()


def _filter_child() -> None:
    PreparedCalls([seccomp.filtering_child(os.getpid())]).make()
