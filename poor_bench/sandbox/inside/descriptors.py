"""Which descriptors mean what in the children of the zygote; their bounded stdout and stderr."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from poor_bench.sandbox.linux.system_calls import SystemCall

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_OUTPUT = 1  # the file that keeps stdout and stderr together
CHANNEL = 3  # to whoever gives the order
RULESET = 4  # rules for files, where all children have the same
# the system puts the first descriptors of a request at the lowest numbers that are free
RECEIVED = (1, 2, CHANNEL)
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


def detach_from_zygote() -> None:
    """Detach a child from the process that forked it.

    It leads a session of its own, and keeps only the descriptors that mean something to it; stdin
    is empty already.
    """
    os.setsid()
    os.closerange(_FIRST_FREE, _MORE_THAN_OPEN)


def list_detaching_calls() -> list[SystemCall]:
    """List the calls that do what `detach_from_zygote` does; Linux 5.9 knows them."""
    return [SystemCall("setsid", ()), SystemCall("close_range", (_FIRST_FREE, _MORE_THAN_OPEN, 0))]


class ChildOutput:
    """stdout and stderr of a child: kept up to a limit, discarded beyond it.

    Made in the zygote, installed in the child.
    """

    def __init__(self) -> None:
        self._n_bytes_left = 0
        self._streams = self._make_text_stream(), self._make_text_stream()

    def install(self, n_bytes: int) -> None:
        """Let `print` and its like write `n_bytes` in total, and do nothing from then on."""
        self._n_bytes_left = n_bytes
        sys.stdout, sys.stderr = self._streams

    def write(self, content: memoryview) -> None:
        """Write what is still allowed."""
        kept = content[: self._n_bytes_left]
        if kept:
            self._n_bytes_left -= os.write(_OUTPUT, kept)

    def flush(self) -> None:
        """Write out what is buffered; programs may have put anything in the streams' place."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            return

    def _make_text_stream(self) -> io.TextIOWrapper:
        buffered = io.BufferedWriter(_BoundedFile(self))
        return io.TextIOWrapper(
            buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True
        )


class _BoundedFile(io.RawIOBase):
    def __init__(self, output: ChildOutput) -> None:
        super().__init__()
        self._output = output

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _OUTPUT

    def write(self, content: ReadableBuffer, /) -> int:
        view = memoryview(content)
        self._output.write(view)
        return len(view)
