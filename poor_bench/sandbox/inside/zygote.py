"""The zygote: a small process without threads or secrets that forks a child per program.

It is started once, enters its surroundings, and then waits for requests on its link to us. A
request is one byte with four descriptors: the file for the child's output twice, for stdout and
stderr, the channel over which the child takes its order, and a control socket. Those of the child
arrive at the numbers that they have there (see `RECEIVED`). The zygote never reads orders. When the
other end of the control socket is shut, the child is killed; when the child is gone, so are all
processes that it started, and the zygote says on the control socket how it ended. When the link is
closed, everything ends.

All children but those that are apart have the same scratch folder, each when it is its turn: only
one has its order at a time, always the oldest, and what it left is gone before it is said that it
ended.

Memory that zygote or children touch after a fork is copied, page by page, and that is most of what
a fork costs. This is why little is done here, and with little.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress
from struct import Struct
from typing import NoReturn

from poor_bench.sandbox.inside.child import live
from poor_bench.sandbox.inside.descendants import OrphanReaper, TaskCounter
from poor_bench.sandbox.inside.descriptors import (
    CHANNEL,
    RECEIVED,
    ChildOutput,
    detach_from_zygote,
    free_received,
    move_away,
    reserve_descriptors,
)
from poor_bench.sandbox.inside.policy import SandboxPolicy
from poor_bench.sandbox.inside.python_files import forget_project, import_folders
from poor_bench.sandbox.inside.warm_up import freeze, preload, rehearse
from poor_bench.sandbox.inside.zygote_context import (
    SWITCHED_OFF,
    ZygoteContext,
    enter_zygote_context,
    explain_missing_task_limit,
    find_missing_mechanisms,
)
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.linux.rights import OtherUser
from poor_bench.sandbox.program import Exit, Limits
from poor_bench.sandbox.wire.channel import Channel, DescriptorConnection, SocketConnection
from poor_bench.sandbox.wire.messages import APART, IN_TURN, pack_exit, pack_failure

_DESCRIPTORS = Struct(f"@{len(RECEIVED)}ii")
_MANY = 4096
_MOST_TASKS = Limits().tasks
_LOOKS_EVERY_S = 0.02
_STOPS_ORPHANS = {Mechanism.OWN_PROCESSES, Mechanism.SYSTEM_CALL_FILTER}


def main(link_descriptor: str, processor: str, avoided: str) -> None:
    """Run the zygote.

    Args:
        link_descriptor: Number of the inherited socket to whoever started it.
        processor: Number of the one to stay on, where the system allows it.
        avoided: Mechanisms to do without, separated by commas.
    """
    link = socket.socket(fileno=move_away(int(link_descriptor)))
    reserve_descriptors()
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, {int(processor)})
    preload()
    orphans = OrphanReaper()
    tasks = TaskCounter()
    surroundings = enter_zygote_context([Mechanism(name) for name in avoided.split(",") if name])
    candidates = [mechanism for mechanism in Mechanism if mechanism not in surroundings.missing]
    missing = surroundings.missing | find_missing_mechanisms(candidates)
    user = _task_user(surroundings, missing)
    tasks_outside = surroundings.tasks_outside if user is None else 0
    is_limited = Mechanism.TASK_LIMIT not in missing and not tasks_outside
    watched_tasks = None if is_limited else _watch_of_tasks(tasks, missing)
    walls = SandboxPolicy(missing, surroundings.readable, user, tasks_outside)
    walls.prepare()
    zygote = _Zygote(link, surroundings, walls, orphans, watched_tasks)
    forget_project(import_folders())
    Channel(SocketConnection(link)).send(missing)
    zygote.serve()


def _task_user(surroundings: ZygoteContext, missing: dict[Mechanism, str]) -> OtherUser | None:
    """Return whom children must become for the limit on tasks to be kept; None for nobody else.

    Where it cannot be kept at all, it is added to what is missing.
    """
    if Mechanism.RESOURCE_LIMITS in missing:
        missing.setdefault(Mechanism.TASK_LIMIT, "there are no resource limits")
    if Mechanism.TASK_LIMIT in missing:
        return None
    number = surroundings.further_user
    others = [] if number is None else [OtherUser(number), OtherUser(number, reads_all=True)]
    for user in (None, *others):
        reason = explain_missing_task_limit(user)
        if not reason:
            missing.pop(Mechanism.TASK_LIMIT, None)
            return user
        missing[Mechanism.TASK_LIMIT] = reason
    return None


def _watch_of_tasks(tasks: TaskCounter, missing: dict[Mechanism, str]) -> TaskCounter | None:
    """Return what counts the tasks of programs instead of the kernel; None if nothing can.

    What is missing no longer holds the limit on tasks then.
    """
    if missing.get(Mechanism.TASK_LIMIT) == SWITCHED_OFF:
        return None
    problem = tasks.problem()
    if problem:
        missing.setdefault(Mechanism.TASK_LIMIT, f"tasks cannot be counted: {problem}")
        return None
    missing.pop(Mechanism.TASK_LIMIT, None)
    return tasks


class _Zygote:
    def __init__(
        self,
        link: socket.socket,
        surroundings: ZygoteContext,
        walls: SandboxPolicy,
        orphans: OrphanReaper,
        tasks: TaskCounter | None,
    ) -> None:
        self._link = link
        self._renew_processes = surroundings.renew_processes
        # only the filter keeps programs from changing the folder itself
        is_filtered = Mechanism.SYSTEM_CALL_FILTER not in walls.missing
        self._empty_scratch = (
            surroundings.empty_scratch if is_filtered else surroundings.renew_scratch
        )
        self._walls = walls
        self._orphans = orphans
        self._tasks = tasks
        self._next_look = 0.0
        self._with_too_many_tasks: set[int] = set()
        self._may_leave_orphans = walls.missing.keys() >= _STOPS_ORPHANS
        self._control_of: dict[int, int] = {}
        self._child_of: dict[int, int] = {}
        self._in_turn: list[int] = []
        self._poll = select.poll()
        self._ended, self._waking = os.pipe()
        self._ancillary_size = socket.CMSG_SPACE(_DESCRIPTORS.size)
        self._output = ChildOutput()
        self._channel = Channel(DescriptorConnection(CHANNEL, CHANNEL))

    def serve(self) -> NoReturn:
        os.set_blocking(self._waking, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        self._poll.register(self._link, select.POLLIN)
        self._poll.register(self._ended, select.POLLIN)
        rehearse(self._walls, self._output)
        freeze()
        free_received()
        while True:
            for descriptor, _ in self._poll.poll(self._patience_ms()):
                if descriptor == self._ended:
                    self._reap()
                elif descriptor == self._link.fileno():
                    self._accept()
                elif descriptor in self._child_of:
                    self._kill(descriptor)
            if self._is_watching():
                self._look_at_tasks()

    def _accept(self) -> None:
        request, ancillary, _, _ = self._link.recvmsg(1, self._ancillary_size)
        if not request:
            self._end_everything()
        *received, control = _DESCRIPTORS.unpack(ancillary[0][2])
        if tuple(received) != RECEIVED:
            raise RuntimeError(f"descriptors arrived at {received}")
        try:
            self._renew_processes()
            child = os.fork()
        except OSError as error:
            self._finish(control, pack_failure(str(error)))
        else:
            if child == 0:
                self._become_child(is_apart=request == APART)
            if request == IN_TURN:
                self._in_turn.append(child)
                self._next_look = time.monotonic() + _LOOKS_EVERY_S
            self._control_of[child] = control
            self._child_of[control] = child
            self._poll.register(control, select.POLLIN)
        free_received()

    def _is_watching(self) -> bool:
        """Tell whether a program runs that has to be watched: then another child waits already."""
        return self._tasks is not None and len(self._in_turn) > 1

    def _patience_ms(self) -> float | None:
        return _LOOKS_EVERY_S * 1000 if self._is_watching() else None

    def _look_at_tasks(self) -> None:
        """Kill the program that runs if it has too many threads and processes."""
        running, now = self._in_turn[0], time.monotonic()
        if self._tasks is None or now < self._next_look:
            return
        self._next_look = now + _LOOKS_EVERY_S
        if self._tasks.n_tasks(_MOST_TASKS, self._control_of.keys() - {running}) > _MOST_TASKS:
            self._with_too_many_tasks.add(running)
            os.kill(running, signal.SIGKILL)

    def _become_child(self, *, is_apart: bool) -> NoReturn:
        signal.set_wakeup_fd(-1)
        if not self._walls.are_prepared:
            detach_from_zygote()
        live(self._channel, self._walls, self._output, is_apart=is_apart)

    def _kill(self, control: int) -> None:
        self._poll.unregister(control)
        os.kill(self._child_of.pop(control), signal.SIGKILL)

    def _reap(self) -> None:
        os.read(self._ended, _MANY)
        while self._control_of:
            child, status, usage = os.wait4(-1, os.WNOHANG)
            if child == 0:
                return
            control = self._control_of.pop(child, None)
            if control is None:
                continue
            if self._may_leave_orphans:
                self._orphans.kill(child, keep=self._control_of)
            if self._child_of.pop(control, None) is not None:
                self._poll.unregister(control)
            self._end_turn(child)
            cpu_s = usage.ru_utime + usage.ru_stime
            had_too_many = child in self._with_too_many_tasks
            self._with_too_many_tasks.discard(child)
            end = Exit(os.waitstatus_to_exitcode(status), cpu_s, had_too_many)
            self._finish(control, pack_exit(end))

    def _end_turn(self, child: int) -> None:
        """Empty the scratch folder, unless the child that ended did not have it."""
        if child not in self._in_turn:
            return
        if child == self._in_turn[0]:
            self._empty_scratch()
        self._in_turn.remove(child)

    def _finish(self, control: int, report: bytes) -> None:
        with suppress(OSError):
            os.write(control, report)
        os.close(control)

    def _end_everything(self) -> NoReturn:
        for child in self._control_of:
            os.kill(child, signal.SIGKILL)
            if self._may_leave_orphans:
                self._orphans.kill(child, keep=())
        os._exit(0)
