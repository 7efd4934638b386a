"""Children that a zygote forks: fast, and locked in as far as the system allows."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.output_file import OutputFile
from poor_bench.sandbox.host.zygote_process import ZygoteKeeper
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.outcomes import Exit
from poor_bench.sandbox.wire.channel import Channel, SocketConnection
from poor_bench.sandbox.wire.reports import APART, IN_TURN, unpack_report

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
