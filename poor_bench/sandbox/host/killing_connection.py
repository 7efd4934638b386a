"""Deadlines for pipes, which have none: whoever does not answer in time is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, cast

from poor_bench.sandbox.wire.channel import (
    ChannelClosedError,
    DeadlineError,
    DescriptorConnection,
)


class KillingConnection:
    """A connection over a child's pipes; see `Connection`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        incoming, outgoing = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stdin)
        self._pipes = DescriptorConnection(incoming.fileno(), outgoing.fileno())

    def read(self, deadline: float | None) -> bytes:
        """Return at least one byte."""
        with self._killed_at(deadline):
            return self._pipes.read(None)

    def write(self, content: bytes, deadline: float | None) -> None:
        """Send all of `content`."""
        with self._killed_at(deadline):
            self._pipes.write(content, None)

    @contextmanager
    def _killed_at(self, deadline: float | None) -> Iterator[None]:
        if deadline is None:
            yield
            return
        remaining = max(0.0, deadline - time.monotonic())
        killer = threading.Timer(remaining, kill_group, [self._process])
        killer.start()
        try:
            yield
        except ChannelClosedError as error:
            if time.monotonic() >= deadline:
                raise DeadlineError from error
            raise
        finally:
            killer.cancel()
            killer.join()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session, and those of its descendants that stayed in it."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
