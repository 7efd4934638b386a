"""One child from its order to its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.child_process import ChildProcess, Launcher
from poor_bench.sandbox.outcomes import Exit
from poor_bench.sandbox.wire.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.decoding import DecodeError
from poor_bench.sandbox.wire.messages import (
    CheckerOrder,
    Order,
    message_to_readiness,
    order_to_message,
)

_START_TIMEOUT_S = 60.0
_MAX_REASON = 2000


class RunningChild:
    """A child that has its order."""

    def __init__(self, process: ChildProcess, output_bytes: int) -> None:
        self.process = process
        self._output_bytes = output_bytes
        self._exit: Exit | None = None

    @property
    def channel(self) -> Channel:
        """The way to the child."""
        return self.process.channel

    def take_output(self) -> str:
        """Return what the child wrote to stdout and stderr since the last time."""
        return self.process.output.take(self._output_bytes)

    def end(self) -> Exit:
        """Kill the child and all that it started; return how it ended.

        Raises:
            SandboxError: If nothing is known of its end.
        """
        if self._exit is None:
            self._exit = self.process.end()
        return self._exit


@contextmanager
def running_child(launcher: Launcher, order: Order) -> Iterator[RunningChild]:
    """Start a child and give it its order; it and all that it started are gone afterwards.

    Args:
        launcher: Starts it.
        order: What it is to do.

    Raises:
        SandboxError: If it cannot be started.
    """
    process = launcher.launch(is_apart=isinstance(order, CheckerOrder))
    child = RunningChild(process, order.limits.output_bytes)
    try:
        with _failing_to_start(child):
            child.channel.send_trusted(order_to_message(order), time.monotonic() + _START_TIMEOUT_S)
        yield child
    finally:
        try:
            child.end()
        finally:
            process.output.close()


def wait_until_ready(child: RunningChild) -> None:
    """Return once a child is locked in, and before it sees any candidate code.

    Raises:
        SandboxError: If it cannot be locked in.
    """
    with _failing_to_start(child):
        message = child.channel.receive(time.monotonic() + _START_TIMEOUT_S)
        reason = message_to_readiness(message)
    if reason:
        raise SandboxError(f"a program cannot be locked in: {reason}", kind=FailureKind.SANDBOX)


@contextmanager
def _failing_to_start(child: RunningChild) -> Iterator[None]:
    try:
        yield
    except (ChannelClosedError, DeadlineError, DecodeError) as error:
        reason = child.take_output().strip()[-_MAX_REASON:] or type(error).__name__
        message = f"a process of the sandbox does not start: {reason}"
        raise SandboxError(message, kind=FailureKind.SANDBOX) from error
