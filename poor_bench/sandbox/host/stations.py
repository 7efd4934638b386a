"""Stations: each runs one program at a time, with processes that no other station uses."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
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
        self._unused_processors = sorted(_processors(), reverse=True)
        self._turns = threading.BoundedSemaphore(len(self._unused_processors))
        self._lock = threading.Lock()
        self._all: list[Station] = []
        self._free: list[Station] = []

    @contextmanager
    def take(self) -> Iterator[Station]:
        """Have a station that nobody else has; wait for one while all are taken."""
        with self._turns:
            with self._lock:
                station = self._free.pop() if self._free else self._new_station()
            try:
                yield station
            finally:
                with self._lock:
                    self._free.append(station)

    def close(self) -> None:
        """End the processes of all stations, those that are taken included."""
        with self._lock:
            for station in self._all:
                station.close()

    def _new_station(self) -> Station:
        launcher = self._make_launcher(self._unused_processors.pop())
        station = Station(launcher, CheckerKeeper(launcher))
        self._all.append(station)
        return station


def _processors() -> set[int]:
    """Return the numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))
