"""The zygote as seen from here: started when first needed, and again if it died."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Mapping, Sequence

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.interpreter import clean_environment, interpreter_command
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.wire.channel import (
    Channel,
    ChannelClosedError,
    DeadlineError,
    SocketConnection,
)

_START_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 5.0
_MAX_REASON = 2000


class ZygoteProcess:
    """A running zygote."""

    def __init__(self, processor: int, avoided: Collection[Mechanism]) -> None:
        """Start a zygote and wait until it is ready.

        Args:
            processor: Number of the one to stay on, where the system allows it.
            avoided: Mechanisms to do without.

        Raises:
            SandboxError: If it does not come up; the message has what it wrote last.
        """
        self._link, theirs = socket.socketpair()
        arguments = str(theirs.fileno()), str(processor), ",".join(avoided)
        command = interpreter_command("zygote", *arguments)
        with theirs, tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[theirs.fileno()],
                env=clean_environment(),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            try:
                greeting = Channel(SocketConnection(self._link)).receive(_start_deadline())
            except (ChannelClosedError, DeadlineError) as error:
                self.close()
                errors.seek(0)
                reason = errors.read().decode("utf-8", "replace")[-_MAX_REASON:]
                message = f"the sandbox does not start: {reason.strip()}"
                raise SandboxError(message, kind=FailureKind.SANDBOX) from error
        self.missing = {Mechanism(name): reason for name, reason in greeting.items()}

    def request(self, kind: bytes, descriptors: Sequence[int]) -> None:
        """Ask for a child that gets these descriptors.

        Args:
            kind: See `poor_bench.sandbox.wire.reports`.
            descriptors: See `poor_bench.sandbox.inside.zygote`.

        Raises:
            OSError: If the zygote is gone.
        """
        socket.send_fds(self._link, [kind], list(descriptors))

    def close(self) -> None:
        """End the zygote and all its children."""
        self._link.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start_deadline() -> float:
    return time.monotonic() + _START_TIMEOUT_S


class ZygoteKeeper:
    """Has a zygote when one is needed; used from many threads."""

    def __init__(self, processor: int, avoided: Collection[Mechanism]) -> None:
        self._processor = processor
        self._avoided = avoided
        self._lock = threading.Lock()
        self._zygote: ZygoteProcess | None = None

    def missing(self) -> Mapping[Mechanism, str]:
        """Return which mechanisms the zygote does without, and why.

        Raises:
            SandboxError: If there is no zygote, and a new one does not come up.
        """
        return self._running().missing

    def request(self, kind: bytes, descriptors: Sequence[int]) -> None:
        """Ask for a child that gets these descriptors; see `ZygoteProcess.request`.

        Raises:
            SandboxError: If there is no zygote, and a new one does not come up or dies at once.
        """
        for _ in range(2):
            zygote = self._running()
            try:
                zygote.request(kind, descriptors)
            except OSError:
                self._drop(zygote)
            else:
                return
        raise SandboxError("the sandbox keeps ending", kind=FailureKind.SANDBOX)

    def close(self) -> None:
        """End the zygote and all its children; the next request starts a new one."""
        with self._lock:
            if self._zygote is not None:
                self._zygote.close()
                self._zygote = None

    def _running(self) -> ZygoteProcess:
        with self._lock:
            if self._zygote is None:
                self._zygote = ZygoteProcess(self._processor, self._avoided)
            return self._zygote

    def _drop(self, dead: ZygoteProcess) -> None:
        with self._lock:
            if self._zygote is dead:
                dead.close()
                self._zygote = None
