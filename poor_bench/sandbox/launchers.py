"""How children are started: forked by a zygote, or as an interpreter each.

A zygote forks children fast, and locked in as far as the system allows. It is started when it is
first needed, and again if it died. On systems that cannot fork, each child is an interpreter of its
own, ended in time, and nothing more.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, cast

from poor_bench.errors import SandboxError
from poor_bench.sandbox.channel import (
    Channel,
    ChannelClosedError,
    DeadlineError,
    DescriptorConnection,
    SocketConnection,
)
from poor_bench.sandbox.children import (
    MAX_REASON,
    START_TIMEOUT_S,
    ChildOutputFile,
    ChildProcess,
    Launcher,
    build_environment,
    build_interpreter_command,
)
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.messages import APART, IN_TURN, unpack_report
from poor_bench.sandbox.program import Exit

_STOP_TIMEOUT_S = 5.0
_END_TIMEOUT_S = 30.0
_MAX_REPORT = 4096


def pick_launcher(processor: int) -> Launcher:
    """Pick the best way of this system to start processes for a processor."""
    if hasattr(os, "fork") and hasattr(socket, "recv_fds"):
        return ZygoteLauncher(processor)
    return PipeLauncher()


class ZygoteLauncher:
    """Starts children through a zygote; see `Launcher`.

    One is started before it is needed, so that it is locked in already when it is.
    """

    links_children = True

    def __init__(self, processor: int, avoided: Collection[Mechanism] = ()) -> None:
        """Prepare; the zygote is started when it is first needed.

        Args:
            processor: Number of the one that all processes run on, where the system allows it.
            avoided: Mechanisms to do without.
        """
        self._processor = processor
        self._avoided = avoided
        self._waiting: ZygoteChild | None = None
        self._zygote: ZygoteProcess | None = None
        self._lock = threading.Lock()  # a sandbox may be closed while another thread launches

    def missing(self) -> Mapping[Mechanism, str]:
        """Tell which mechanisms are not in force; see `Launcher`."""
        return self._find_zygote().missing

    def launch(self, *, is_apart: bool = False) -> ZygoteChild:
        """Start a child, or take the one that waits for its order; see `Launcher`."""
        if is_apart:
            return self._start(APART)
        child = self._take_waiting() or self._start(IN_TURN)
        self._waiting = self._start(IN_TURN)
        return child

    def close(self) -> None:
        """End all children; the next launch starts a new zygote."""
        self._end_zygote()
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _take_waiting(self) -> ZygoteChild | None:
        """Take the child that waits, if it is still alive."""
        child, self._waiting = self._waiting, None
        if child is not None and not child.is_alive():
            child.close()
            return None
        return child

    def _start(self, kind: bytes) -> ZygoteChild:
        with ExitStack() as on_failure:
            link, its_link = socket.socketpair()
            control, its_control = socket.socketpair()
            output = ChildOutputFile()
            for ours in (link, control):
                on_failure.enter_context(ours)
            on_failure.callback(output.close)
            with its_link, its_control:
                outputs = [output.fileno()] * 2
                self._request(kind, [*outputs, its_link.fileno(), its_control.fileno()])
            on_failure.pop_all()
        return ZygoteChild(link, control, output)

    def _request(self, kind: bytes, descriptors: Sequence[int]) -> None:
        """Request a child; a zygote that died meanwhile is replaced once.

        Raises:
            SandboxError: If no zygote runs, and a new one does not start or dies at once.
        """
        for _ in range(2):
            zygote = self._find_zygote()
            try:
                return zygote.request(kind, descriptors)
            except OSError:
                self._end_zygote(zygote)
        raise SandboxError("the sandbox keeps ending")

    def _find_zygote(self) -> ZygoteProcess:
        with self._lock:
            if self._zygote is None:
                self._zygote = ZygoteProcess(self._processor, self._avoided)
            return self._zygote

    def _end_zygote(self, dead: ZygoteProcess | None = None) -> None:
        """End the zygote; only if it is still the one that was found dead, if one was."""
        with self._lock:
            if self._zygote is not None and dead in (None, self._zygote):
                self._zygote.close()
                self._zygote = None


class ZygoteProcess:
    """A running zygote."""

    def __init__(self, processor: int, avoided: Collection[Mechanism]) -> None:
        """Start a zygote and wait until it is ready; see `ZygoteLauncher`.

        Raises:
            SandboxError: If it does not start; the message has what it wrote last.
        """
        self._link, theirs = socket.socketpair()
        arguments = str(theirs.fileno()), str(processor), ",".join(avoided)
        with theirs, tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                build_interpreter_command("zygote", *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[theirs.fileno()],
                env=build_environment(),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            try:
                deadline = time.monotonic() + START_TIMEOUT_S
                greeting = Channel(SocketConnection(self._link)).receive(deadline)
            except (ChannelClosedError, DeadlineError) as error:
                self.close()
                errors.seek(0)
                reason = errors.read().decode("utf-8", "replace")[-MAX_REASON:].strip()
                raise SandboxError(f"the sandbox does not start: {reason}") from error
        self.missing = {Mechanism(name): reason for name, reason in greeting.items()}

    def request(self, kind: bytes, descriptors: Sequence[int]) -> None:
        """Request a child that gets these descriptors.

        Args:
            kind: See `poor_bench.sandbox.messages`.
            descriptors: See `poor_bench.sandbox.inside.zygote`.

        Raises:
            OSError: If the zygote is gone.
        """
        socket.send_fds(self._link, [kind], list(descriptors))

    def close(self) -> None:
        """End the zygote and all its children."""
        self._link.close()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class ZygoteChild:
    """A child that a zygote forked; see `ChildProcess`."""

    def __init__(
        self, link: socket.socket, control: socket.socket, output: ChildOutputFile
    ) -> None:
        self.channel = Channel(SocketConnection(link))
        self.output = output
        self._link = link
        self._control = control

    def hand_over(self, other: Channel, message: object, deadline: float) -> bool:
        """Send a message over another channel, and our end of this one; see `ChildProcess`."""
        other.send_trusted_with_socket(message, self._link, deadline)
        self._link.close()
        return True

    def end(self) -> Exit:
        """Kill the child and all that it started; see `ChildProcess`."""
        with self._control, self._link:
            end = unpack_report(self._request_report())
        if isinstance(end, Exit):
            return end
        raise SandboxError(f"a program could not be run: {end}")

    def is_alive(self) -> bool:
        """True while its end is not reported."""
        try:
            self._control.recv(_MAX_REPORT, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Drop a child that never had an order."""
        self._control.close()
        self._link.close()
        self.output.close()

    def _request_report(self) -> bytes:
        # shutting the control socket is how the zygote is told to kill the child
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            self._control.settimeout(_END_TIMEOUT_S)
            return self._control.recv(_MAX_REPORT)
        return b""


class PipeLauncher:
    """Starts an interpreter per child; see `Launcher`."""

    links_children = False

    def missing(self) -> Mapping[Mechanism, str]:
        """Tell which mechanisms are not in force: all of them."""
        return dict.fromkeys(Mechanism, "this system cannot fork processes")

    def launch(self, *, is_apart: bool = False) -> ChildProcess:
        """Start a child; see `Launcher`."""
        del is_apart  # each has a scratch folder of its own anyway
        output = ChildOutputFile()
        try:
            process = subprocess.Popen(
                build_interpreter_command("child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output.fileno(),
                bufsize=0,
                env=build_environment(),
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            raise SandboxError(f"a program could not be run: {error.strerror}") from error
        return PipeChild(process, output)

    def close(self) -> None:
        """Do nothing: no child outlives its run."""


class PipeChild:
    """A child with an interpreter of its own; see `ChildProcess`."""

    def __init__(self, process: subprocess.Popen[bytes], output: ChildOutputFile) -> None:
        self.channel = Channel(_KillingConnection(process))
        self.output = output
        self._process = process

    def hand_over(self, _other: Channel, _message: object, _deadline: float) -> bool:
        """Always False: pipes cannot be handed over."""
        return False

    def end(self) -> Exit:
        """Kill the child; see `ChildProcess`."""
        with self._process as process:
            _kill_group(process)
            return Exit(status=process.wait(), cpu_s=0.0)


class _KillingConnection(DescriptorConnection):
    """Deadlines for pipes, which have none: a child that does not answer in time is killed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        incoming, outgoing = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stdin)
        super().__init__(incoming.fileno(), outgoing.fileno())
        self._process = process

    def read(self, deadline: float | None) -> bytes:
        with self._kill_at(deadline):
            return super().read(None)

    def write(self, content: bytes, deadline: float | None) -> None:
        with self._kill_at(deadline):
            super().write(content, None)

    @contextmanager
    def _kill_at(self, deadline: float | None) -> Iterator[None]:
        if deadline is None:
            yield
            return
        remaining = max(0.0, deadline - time.monotonic())
        killer = threading.Timer(remaining, _kill_group, [self._process])
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


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session, and those of its descendants that stayed in it."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
