"""How children are started: forked by a zygote, or as an interpreter each.

A zygote forks children fast, and locked in as far as the system allows. It is started when it is
first needed, and again if it died. On systems that cannot fork, each child is an interpreter of its
own, ended in time, and nothing more. Pipes have no deadlines: who does not answer in time is
killed.
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
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.children import OutputFile, clean_environment, interpreter_command
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.program import Exit
from poor_bench.sandbox.wire.channel import (
    Channel,
    ChannelClosedError,
    DeadlineError,
    DescriptorConnection,
    SocketConnection,
)
from poor_bench.sandbox.wire.messages import APART, IN_TURN, unpack_report


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


class PipeChild:
    """A child with an interpreter of its own; see `ChildProcess`."""

    def __init__(self, process: subprocess.Popen[bytes], output: OutputFile) -> None:
        self.channel = Channel(KillingConnection(process))
        self.output = output
        self._process = process

    def hand_over(self, _other: Channel, _message: object, _deadline: float) -> bool:
        """Return False: pipes cannot be handed over."""
        return False

    def end(self) -> Exit:
        """Kill the child; see `ChildProcess`."""
        with self._process as process:
            kill_group(process)
            return Exit(status=process.wait(), cpu_s=0.0)


class PipeLauncher:
    """Starts an interpreter per child; see `Launcher`."""

    links_children = False

    def missing(self) -> Mapping[Mechanism, str]:
        """Return which mechanisms are not in force: none is."""
        return dict.fromkeys(Mechanism, "this system cannot fork processes")

    def launch(self, *, is_apart: bool = False) -> PipeChild:
        """Start a child; see `Launcher`."""
        del is_apart  # all have their own
        output = OutputFile()
        try:
            process = subprocess.Popen(
                interpreter_command("child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output.fileno(),
                bufsize=0,
                env=clean_environment(),
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            message = f"a program could not be run: {error.strerror}"
            raise SandboxError(message, kind=FailureKind.SANDBOX) from error
        return PipeChild(process, output)

    def close(self) -> None:
        """Do nothing: no child outlives its run."""


_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 5.0
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
            kind: See `poor_bench.sandbox.wire.messages`.
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


_END_TIMEOUT_S = 30.0
_MAX_REPORT = 4096


class ZygoteChild:
    """A child that a zygote forked; see `ChildProcess`."""

    def __init__(self, link: socket.socket, control: socket.socket, output: OutputFile) -> None:
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
            report = self._read_report()
        end = unpack_report(report)
        if isinstance(end, Exit):
            return end
        raise SandboxError(f"a program could not be run: {end}", kind=FailureKind.SANDBOX)

    def is_alive(self) -> bool:
        """Whether nothing is known of its end yet."""
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

    def _read_report(self) -> bytes:
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            self._control.settimeout(_END_TIMEOUT_S)
            return self._control.recv(_MAX_REPORT)
        return b""


class ZygoteLauncher:
    """Starts children through a zygote; see `Launcher`.

    One is started before it is needed, so that it is locked in already when it is.
    """

    links_children = True

    def __init__(self, processor: int, avoided: Collection[Mechanism] = ()) -> None:
        """Prepare.

        Args:
            processor: Number of the one that all processes run on, where the system allows it.
            avoided: Mechanisms to do without.
        """
        self._keeper = ZygoteKeeper(processor, avoided)
        self._waiting: ZygoteChild | None = None

    def missing(self) -> Mapping[Mechanism, str]:
        """Return which mechanisms are not in force; see `Launcher`."""
        return self._keeper.missing()

    def launch(self, *, is_apart: bool = False) -> ZygoteChild:
        """Return a child that waits for its order; see `Launcher`."""
        if is_apart:
            return self._start(is_apart=True)
        child = self._waiting_child() or self._start()
        self._waiting = self._start()
        return child

    def close(self) -> None:
        """End all children."""
        self._keeper.close()
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _waiting_child(self) -> ZygoteChild | None:
        """Return the child that waits, if it is still alive."""
        child, self._waiting = self._waiting, None
        if child is not None and not child.is_alive():
            child.close()
            return None
        return child

    def _start(self, *, is_apart: bool = False) -> ZygoteChild:
        with ExitStack() as on_failure:
            link, its_link = socket.socketpair()
            control, its_control = socket.socketpair()
            output = OutputFile()
            for ours in (link, control):
                on_failure.enter_context(ours)
            on_failure.callback(output.close)
            with its_link, its_control:
                outputs = [output.fileno()] * 2
                descriptors = [*outputs, its_link.fileno(), its_control.fileno()]
                self._keeper.request(APART if is_apart else IN_TURN, descriptors)
            on_failure.pop_all()
        return ZygoteChild(link, control, output)
