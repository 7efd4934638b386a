"""What the rest of the sandbox knows of a child, however it was started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from poor_bench.sandbox.host.output_file import OutputFile
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.outcomes import Exit
from poor_bench.sandbox.wire.channel import Channel


class ChildProcess(Protocol):
    """A child that was started and waits for its order."""

    channel: Channel
    output: OutputFile

    def hand_over(self, other: Channel, message: object, deadline: float) -> bool:
        """Send a message over another channel, and our end of this one, if that can be done.

        Args:
            other: To another child.
            message: Plain data.
            deadline: When it has to be sent, in seconds of `time.monotonic`.

        Returns:
            Whether it was done; `channel` is of no more use then.

        Raises:
            ChannelClosedError: If the other child is gone.
            DeadlineError: If it did not take the message in time.
            EncodeError: If the message is too large to be sent.
        """

    def end(self) -> Exit:
        """Kill the child and all that it started; return once they are gone.

        Raises:
            SandboxError: If nothing is known of its end.
        """


class Launcher(Protocol):
    """Starts children; used by one program at a time.

    Attributes:
        links_children: Whether they can be handed over to each other.
    """

    links_children: bool

    def missing(self) -> Mapping[Mechanism, str]:
        """Return which mechanisms are not in force, and why.

        Raises:
            SandboxError: If children cannot be started at all.
        """

    def launch(self, *, is_apart: bool = False) -> ChildProcess:
        """Return a child that has just been started, or is waiting for its order.

        Args:
            is_apart: Whether its scratch folder is its own, and not that of one child after the
                other; it can then live beside others.

        Raises:
            SandboxError: If it cannot be started.
        """

    def close(self) -> None:
        """End all children."""
