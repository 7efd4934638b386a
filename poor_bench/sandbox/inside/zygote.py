"""The zygote: a small process without threads or secrets that forks a child per program.

It is started once, enters its context, and then waits for requests on its link to us. A
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

from poor_bench.sandbox.channel import Channel, DescriptorConnection, SocketConnection
from poor_bench.sandbox.inside.child import live
from poor_bench.sandbox.inside.descendants import Descendants
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
from poor_bench.sandbox.inside.python_files import find_import_folders, forget_project
from poor_bench.sandbox.inside.warm_up import freeze, preload, rehearse
from poor_bench.sandbox.inside.zygote_context import ZygoteContext, enter_zygote_context
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.messages import APART, IN_TURN, pack_exit, pack_failure
from poor_bench.sandbox.program import Exit, Limits

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
    descendants = Descendants()
    mechanisms = [Mechanism(name) for name in avoided.split(",") if name]
    context = enter_zygote_context(mechanisms, descendants)
    policy = SandboxPolicy(context.missing, context.readable, context.user, context.tasks_outside)
    policy.prepare()
    zygote = _Zygote(link, context, policy, descendants)
    forget_project(find_import_folders())
    Channel(SocketConnection(link)).send(context.missing)
    zygote.serve()


class _Zygote:
    def __init__(
        self,
        link: socket.socket,
        context: ZygoteContext,
        policy: SandboxPolicy,
        descendants: Descendants,
    ) -> None:
        self._link = link
        self._renew_processes = context.renew_processes
        self._empty_scratch = context.empty_scratch
        self._counts_tasks = context.counts_tasks
        self._policy = policy
        self._descendants = descendants
        self._next_look = 0.0
        self._with_too_many_tasks: set[int] = set()
        self._may_leave_orphans = policy.missing.keys() >= _STOPS_ORPHANS
        self._control_of: dict[int, int] = {}
        self._child_of: dict[int, int] = {}
        self._in_turn: list[int] = []
        self._poll = select.poll()
        self._ended, self._waking = os.pipe()
        self._ancillary_size = socket.CMSG_SPACE(_DESCRIPTORS.size)
        self._output = ChildOutput()
        self._channel = Channel(DescriptorConnection(CHANNEL, CHANNEL))

    def serve(self) -> NoReturn:
        # poll(2) watches descriptors only: the end of a child is a byte in a pipe, which the signal
        # writes as long as it has a handler, whatever that does
        os.set_blocking(self._waking, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        self._poll.register(self._link, select.POLLIN)
        self._poll.register(self._ended, select.POLLIN)
        # in this order: what the rehearsal leaves in memory is frozen as well
        rehearse(self._policy, self._output)
        freeze()
        free_received()
        while True:
            patience_ms = _LOOKS_EVERY_S * 1000 if self._is_watching() else None
            for descriptor, _ in self._poll.poll(patience_ms):
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
        """True if a program runs whose tasks are counted: then another child waits already."""
        return self._counts_tasks and len(self._in_turn) > 1

    def _look_at_tasks(self) -> None:
        """Kill the program that runs if it has too many threads and processes."""
        running, now = self._in_turn[0], time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOKS_EVERY_S
        others = self._control_of.keys() - {running}
        if self._descendants.count_tasks(_MOST_TASKS, others) > _MOST_TASKS:
            self._with_too_many_tasks.add(running)
            os.kill(running, signal.SIGKILL)

    def _become_child(self, *, is_apart: bool) -> NoReturn:
        signal.set_wakeup_fd(-1)
        if not self._policy.is_prepared:
            detach_from_zygote()
        live(self._channel, self._policy, self._output, is_apart=is_apart)

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
                self._descendants.kill_orphans(child, keep=self._control_of)
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
                self._descendants.kill_orphans(child, keep=())
        os._exit(0)
