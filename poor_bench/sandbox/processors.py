"""Which processor the processes of a sandbox worker stay on: one that few others stay on.

Processes of this project on one machine, such as the workers of a cluster, know of each other by
the addresses of unused sockets: the system gives an address to one socket at a time, and takes it
back when its process ends.
"""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import ExitStack

_MOST_SHARERS = 64
_ADDRESS = "\0poor_bench processor {}, {}"


class Processors:
    """The processors that this process may use, each to be taken once; not for several threads."""

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
