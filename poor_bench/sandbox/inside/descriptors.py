"""Which descriptors mean what in the zygote's children."""

from __future__ import annotations

import os

from poor_bench.sandbox.linux.prepared_calls import SystemCall

CHANNEL = 3
"""To whoever gives the order."""
RULESET = 4
"""Rules for files, where all children have the same."""
RECEIVED = (1, 2, CHANNEL)
"""Where the system puts the first descriptors of a request: at the lowest numbers that are free."""
_FIRST_FREE = 5
_OUT_OF_THE_WAY = 64
_MORE_THAN_OPEN = 65536


def move_away(descriptor: int) -> int:
    """Move a descriptor to where it is not in the way, and return the new one."""
    import fcntl  # not on Windows

    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
    os.close(descriptor)
    return moved


def reserve_descriptors() -> None:
    """Keep the descriptors that have a meaning from being used for anything else meanwhile."""
    empty = move_away(os.open(os.devnull, os.O_RDONLY))
    for descriptor in (CHANNEL, RULESET):
        os.dup2(empty, descriptor)
    os.close(empty)


def free_received() -> None:
    """Make room for the descriptors of the next request; see `RECEIVED`."""
    os.closerange(RECEIVED[0], CHANNEL + 1)


def part() -> None:
    """Part a child from the process that forked it.

    It leads a session of its own, and has no descriptors but those that mean something to it; stdin
    is empty already.
    """
    os.setsid()
    os.closerange(_FIRST_FREE, _MORE_THAN_OPEN)


def parting_calls() -> list[SystemCall]:
    """Return the calls that do what `part` does; Linux 5.9 knows them."""
    return [SystemCall("setsid", ()), SystemCall("close_range", (_FIRST_FREE, _MORE_THAN_OPEN, 0))]
