"""Workers: each runs one program at a time, with processes that no other worker uses.

A worker has a launcher and a checker, the child that carries out tests. The checker is used again
for as long as it is as good as new. Where a checker and its candidate cannot be linked, their
messages pass through this process.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.sandbox.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.children import Launcher, RunningChild, run_child
from poor_bench.sandbox.encoding import DecodeError, decode, encode
from poor_bench.sandbox.messages import CheckerOrder, CheckRequest
from poor_bench.sandbox.program import Exit, Limits

_CHECKER_CPU_S = 3600


class SandboxWorkers:
    """As many workers as there are processors, made when they are needed; used from many threads.

    The processes of a worker take turns: one waits while another one works. On a processor that
    they share, the next one is there at once, where another processor would have to be woken.
    """

    def __init__(self, make_launcher: Callable[[int], Launcher]) -> None:
        """Prepare.

        Args:
            make_launcher: From the number of a processor to how children are started for it.
        """
        self._make_launcher = make_launcher
        self._processors = Processors()
        self._lock = threading.Lock()
        self._all: list[SandboxWorker] = []
        self._free: list[SandboxWorker] = []
        self._queue: deque[Future[SandboxWorker]] = deque()

    @contextmanager
    def take(self) -> Iterator[SandboxWorker]:
        """Use a worker alone; while all are taken, who waits longest is next."""
        turn = self._queue_up()
        try:
            yield turn.result()
        finally:
            self._leave(turn)

    def close(self) -> None:
        """End the processes of all workers, those that are taken included."""
        with self._lock:
            for worker in self._all:
                worker.close()

    def _queue_up(self) -> Future[SandboxWorker]:
        turn: Future[SandboxWorker] = Future()
        with self._lock:
            if self._free:
                turn.set_result(self._free.pop())
            elif self._processors:
                worker = SandboxWorker(self._make_launcher(self._processors.take()))
                self._all.append(worker)
                turn.set_result(worker)
            else:
                self._queue.append(turn)
        return turn

    def _leave(self, turn: Future[SandboxWorker]) -> None:
        """Pass on the worker of a turn; a turn that has none yet was given up."""
        with self._lock:
            if not turn.done():
                self._queue.remove(turn)
            elif self._queue:
                self._queue.popleft().set_result(turn.result())
            else:
                self._free.append(turn.result())


class SandboxWorker:
    """What one program at a time needs.

    Attributes:
        launcher: Starts its children.
    """

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self._checker: Checker | None = None

    def take_checker(self) -> Checker:
        """Take the checker that waits, or start one.

        Raises:
            SandboxError: If a new one is needed and cannot be started or locked in.
        """
        checker, self._checker = self._checker, None
        return checker or Checker(self.launcher)

    def keep_checker(self, checker: Checker) -> None:
        """Keep a checker for the next test."""
        checker.is_reused = True
        self._checker = checker

    def close(self) -> None:
        """End all processes; the next program starts new ones."""
        checker, self._checker = self._checker, None
        if checker is not None:
            with suppress(SandboxError):  # nobody needs to know how it ended
                checker.end()
        self.launcher.close()


class Checker:
    """A child that carries out tests.

    Attributes:
        is_reused: True if it has carried out a test before.
    """

    def __init__(self, launcher: Launcher) -> None:
        """Start a checker.

        Raises:
            SandboxError: If it cannot be started or locked in.
        """
        self.is_reused = False
        order = CheckerOrder(
            limits=Limits(), cpu_s=_CHECKER_CPU_S, is_linked=launcher.links_children
        )
        with ExitStack() as resources:
            self._child = resources.enter_context(run_child(launcher, order))
            self._child.wait_until_ready()
            self._resources = resources.pop_all()

    def check(self, request: CheckRequest, candidate: RunningChild, deadline: float) -> Any:
        """Carry out a test and return the checker's message about it.

        Args:
            request: The test.
            candidate: Has its order.
            deadline: When all has to be over, in seconds of `time.monotonic`.

        Raises:
            ChannelClosedError: If the checker died.
            DeadlineError: If it did not come to an end in time.
            DecodeError: If it sent something else than messages.
            EncodeError: If the test is too large to be sent.
            SandboxError: If the candidate cannot be locked in.
        """
        channel, message = self._child.channel, ("check", tuple(request))
        if candidate.process.hand_over(channel, message, deadline):
            return channel.receive(deadline)
        candidate.wait_until_ready()
        channel.send_trusted(message, deadline)
        return _relay(channel, candidate.channel, request.call_s, deadline)

    def end(self) -> Exit:
        """Kill the checker; tell how it ended.

        Raises:
            SandboxError: If nothing is known of its end.
        """
        with self._resources:
            return self._child.end()


def _relay(checker: Channel, candidate: Channel, call_s: float, deadline: float) -> Any:
    """Pass on messages until the checker has one for us; see `poor_bench.sandbox.messages`.

    Both are ready. The candidate may take `call_s` seconds for each answer. Raises as
    `Checker.check` does.
    """
    checker.send(("ready",), deadline)
    request = None
    while True:
        answer = _ask(candidate, request, min(time.monotonic() + call_s, deadline))
        checker.send_encoded(answer, deadline)
        request = checker.receive_encoded(deadline)
        message = decode(request)
        if message[0] != "call":
            return message


def _ask(candidate: Channel, request: bytes | None, deadline: float) -> bytes:
    """Receive the candidate's next message, or one that says why there is none.

    Args:
        candidate: Whom to ask.
        request: What to ask; None for what it says by itself once it is loaded.
        deadline: When an answer is late.
    """
    try:
        if request is not None:
            candidate.send_encoded(request, deadline)
        return candidate.receive_encoded(deadline)
    except DeadlineError:
        return encode(("silent", "timed out"))
    except ChannelClosedError:
        return encode(("silent", "died"))
    except DecodeError:
        return encode(("silent", "garbled"))


_MOST_SHARERS = 64
_ADDRESS = "\0poor_bench processor {}, {}"


class Processors:
    """The processors that this process may use, each to be taken once; not for several threads.

    Processes of this project on one machine, such as the workers of a cluster, know of each other
    by the addresses of unused sockets: the system gives an address to one socket at a time, and
    takes it back when its process ends.
    """

    def __init__(self) -> None:
        self._unused = _list_processors()
        self._claims = ExitStack()
        weakref.finalize(self, self._claims.close)

    def __len__(self) -> int:
        return len(self._unused)

    def take(self) -> int:
        """Take the processor that the fewest processes have taken."""
        numbers = range(_MOST_SHARERS if hasattr(os, "sched_setaffinity") else 0)
        free = (one for number in numbers for one in self._unused if self._claim(one, number))
        processor = next(free, self._unused[0])
        self._unused.remove(processor)
        return processor

    def _claim(self, processor: int, number: int) -> bool:
        """Take an address that stands for a processor; False if another process has it."""
        with ExitStack() as on_failure:
            claim = on_failure.enter_context(socket.socket(socket.AF_UNIX))
            try:
                claim.bind(_ADDRESS.format(processor, number))
            except OSError:
                return False
            self._claims.enter_context(on_failure.pop_all())
            return True


def _list_processors() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
