"""Stations: each runs one program at a time, with processes that no other station uses."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from poor_bench.sandbox.host.checker import CheckerKeeper
from poor_bench.sandbox.host.child_process import Launcher


@dataclass(frozen=True, slots=True, eq=False)
class Station:
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


class Stations:
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
        self._all: list[Station] = []
        self._free: list[Station] = []
        self._queue: deque[Future[Station]] = deque()

    @contextmanager
    def take(self) -> Iterator[Station]:
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

    def _queue_up(self) -> Future[Station]:
        turn: Future[Station] = Future()
        with self._lock:
            if self._free:
                turn.set_result(self._free.pop())
            elif self._unused_processors:
                turn.set_result(self._new_station())
            else:
                self._queue.append(turn)
        return turn

    def _leave(self, turn: Future[Station]) -> None:
        """Pass on the station of a turn; one that has none yet was given up."""
        with self._lock:
            if not turn.done():
                self._queue.remove(turn)
            elif self._queue:
                self._queue.popleft().set_result(turn.result())
            else:
                self._free.append(turn.result())

    def _new_station(self) -> Station:
        launcher = self._make_launcher(self._unused_processors.pop())
        station = Station(launcher, CheckerKeeper(launcher))
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
