"""Workers: each runs one program at a time, with processes that no other worker uses.

A worker has a launcher and a checker, the child that carries out tests. The checker is used again
for as long as it is as good as new. Where a checker and its candidate cannot be linked, their
messages pass through this process.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.sandbox.host.children import (
    Launcher,
    RunningChild,
    running_child,
    scratch_folder,
    wait_until_ready,
)
from poor_bench.sandbox.program import Exit, Limits
from poor_bench.sandbox.wire.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.encoding import DecodeError, decode, encode
from poor_bench.sandbox.wire.messages import CheckerOrder, CheckRequest, request_to_message


def relay(checker: Channel, candidate: Channel, call_s: float, deadline: float) -> Any:
    """Pass on messages until the checker has one for us; see `poor_bench.sandbox.wire.messages`.

    Args:
        checker: Is ready.
        candidate: Is ready.
        call_s: How long the candidate may take for an answer, in seconds.
        deadline: When all has to be over, in seconds of `time.monotonic`.

    Raises:
        ChannelClosedError: If the checker is gone.
        DeadlineError: If the checker does not come to an end in time.
        DecodeError: If the checker sends something else than messages.
    """
    checker.send(("ready",), deadline)
    request = None
    while True:
        answer = _answer(candidate, request, min(time.monotonic() + call_s, deadline))
        checker.send_encoded(answer, deadline)
        request = checker.receive_encoded(deadline)
        message = decode(request)
        if message[0] != "call":
            return message


def _answer(candidate: Channel, request: bytes | None, deadline: float) -> bytes:
    """Return the candidate's next message, or one that says why there is none.

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


_CPU_S = 3600


class Checker:
    """A child that carries out tests.

    Attributes:
        is_reused: Whether it has carried out a test before.
    """

    def __init__(self, launcher: Launcher) -> None:
        """Start a checker.

        Raises:
            SandboxError: If it cannot be started or locked in.
        """
        self.is_reused = False
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder(launcher.missing()))
            order = CheckerOrder(
                scratch=scratch, limits=Limits(), cpu_s=_CPU_S, is_linked=launcher.links_children
            )
            self._child = resources.enter_context(running_child(launcher, order))
            wait_until_ready(self._child)
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
            EncodeError: If the test is too large to be sent.
            SandboxError: If the candidate cannot be locked in.
        """
        channel = self._child.channel
        message = request_to_message(request)
        if candidate.process.hand_over(channel, message, deadline):
            return channel.receive(deadline)
        wait_until_ready(candidate)
        channel.send_trusted(message, deadline)
        return relay(channel, candidate.channel, request.call_s, deadline)

    def end(self) -> Exit:
        """Kill the checker; return how it ended.

        Raises:
            SandboxError: If nothing is known of its end.
        """
        with self._resources:
            return self._child.end()


class CheckerKeeper:
    """Keeps a checker between tests; used by one test at a time."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._waiting: Checker | None = None

    def take(self) -> Checker:
        """Return a checker that carries out no test.

        Raises:
            SandboxError: If a new one is needed and cannot be started or locked in.
        """
        checker, self._waiting = self._waiting, None
        return checker or Checker(self._launcher)

    def give_back(self, checker: Checker) -> None:
        """Keep a checker for the next test."""
        checker.is_reused = True
        self._waiting = checker

    def close(self) -> None:
        """End the checker, if one waits."""
        checker, self._waiting = self._waiting, None
        if checker is not None:
            with suppress(SandboxError):  # nobody asks how it ended
                checker.end()


@dataclass(frozen=True, slots=True, eq=False)
class SandboxWorker:
    """What one program at a time needs.

    Attributes:
        launcher: Starts its children.
        checkers: Keeps a child that carries out tests.
    """

    launcher: Launcher
    checkers: CheckerKeeper

    def close(self) -> None:
        """End all processes; the next program starts new ones."""
        self.checkers.close()
        self.launcher.close()


class SandboxWorkers:
    """As many stations as there are processors, made when they are needed; used from many threads.

    The processes of a station take turns: one waits while another one works. On a processor that
    they share, the next one is there at once, where another processor would have to be woken.
    """

    def __init__(self, make_launcher: Callable[[int], Launcher]) -> None:
        """Prepare.

        Args:
            make_launcher: From the number of a processor to how children are started for it.
        """
        self._make_launcher = make_launcher
        self._unused_processors = _rotated(sorted(_processors()), os.getpid())
        self._lock = threading.Lock()
        self._all: list[SandboxWorker] = []
        self._free: list[SandboxWorker] = []
        self._queue: deque[Future[SandboxWorker]] = deque()

    @contextmanager
    def take(self) -> Iterator[SandboxWorker]:
        """Have a station that nobody else has; while all are taken, who waits longest is next."""
        turn = self._queue_up()
        try:
            yield turn.result()
        finally:
            self._leave(turn)

    def close(self) -> None:
        """End the processes of all stations, those that are taken included."""
        with self._lock:
            for station in self._all:
                station.close()

    def _queue_up(self) -> Future[SandboxWorker]:
        turn: Future[SandboxWorker] = Future()
        with self._lock:
            if self._free:
                turn.set_result(self._free.pop())
            elif self._unused_processors:
                turn.set_result(self._new_station())
            else:
                self._queue.append(turn)
        return turn

    def _leave(self, turn: Future[SandboxWorker]) -> None:
        """Pass on the station of a turn; one that has none yet was given up."""
        with self._lock:
            if not turn.done():
                self._queue.remove(turn)
            elif self._queue:
                self._queue.popleft().set_result(turn.result())
            else:
                self._free.append(turn.result())

    def _new_station(self) -> SandboxWorker:
        launcher = self._make_launcher(self._unused_processors.pop())
        station = SandboxWorker(launcher, CheckerKeeper(launcher))
        self._all.append(station)
        return station


def _rotated(processors: list[int], number: int) -> list[int]:
    """Return processors in another order for each process, lest all begin with the same one."""
    first = number % len(processors)
    return processors[first:] + processors[:first]


def _processors() -> set[int]:
    """Return the numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))
