"""Which descriptors mean what in the zygote's children."""

from __future__ import annotations

import os
import socket

CHANNEL = 3
"""To whoever gives the order."""
RULESET = 4
"""Rules for files, where all children have the same."""
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


def leave_only(waiting: int) -> None:
    """Make `waiting` the channel of this process and close all that it has no use for."""
    os.dup2(waiting, CHANNEL)
    os.closerange(_FIRST_FREE, _MORE_THAN_OPEN)


def hand_over(waiting: socket.socket, output: int, channel: int) -> None:
    """Give a process that waits what it needs.

    Raises:
        OSError: If it is gone.
    """
    socket.send_fds(waiting, [b"."], [output, channel])


def take_over() -> None:
    """Wait for what `hand_over` gives, and put it in its place.

    Raises:
        OSError: If whoever was to give it is gone.
    """
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=CHANNEL)
    _, (output, channel), _, _ = socket.recv_fds(waiting, 1, 2)
    waiting.detach()
    for source, target in ((output, 1), (output, 2), (channel, CHANNEL)):
        os.dup2(source, target)
    os.close(output)
    os.close(channel)
