"""A child's life: lock itself in, wait for an order, carry it out, end.

A child is forked by the zygote (`live`), or is an interpreter of its own with pipes to us where the
system cannot fork (`main`). Its stdout and stderr are kept up to a limit and thrown away beyond it.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

from poor_bench.sandbox.channel import Channel, DescriptorConnection, SocketConnection
from poor_bench.sandbox.encoding import encode
from poor_bench.sandbox.inside.candidate import serve_candidate
from poor_bench.sandbox.inside.checker import serve_checker
from poor_bench.sandbox.inside.descriptors import CHANNEL, ChildOutput
from poor_bench.sandbox.inside.policy import SandboxPolicy
from poor_bench.sandbox.inside.python_files import find_import_folders, forget_project
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.messages import CandidateOrder, Order, message_to_order

_READY = encode(("ready",))


def main() -> None:
    """Carry out the order that comes over stdin, with stdout for answers and stderr for output."""
    channel = Channel(DescriptorConnection(os.dup(0), os.dup(1)))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    forget_project(find_import_folders())
    policy = SandboxPolicy(dict.fromkeys(Mechanism, ""), readable=())
    live(channel, policy, ChildOutput(), is_apart=True)


def live(
    channel: Channel, policy: SandboxPolicy, output: ChildOutput, *, is_apart: bool
) -> NoReturn:
    """Wait, locked in, for an order over `channel`; carry it out and end this process.

    Args:
        channel: To whoever gives the order, maybe much later.
        policy: What to put in force.
        output: Of this process.
        is_apart: Give it a scratch folder of its own.
    """
    try:
        serve(channel, policy, output, is_apart=is_apart)
    finally:
        os._exit(0)


def serve(channel: Channel, policy: SandboxPolicy, output: ChildOutput, *, is_apart: bool) -> None:
    """Do all that a child does, until nobody asks any more; see `live`.

    Raises:
        ChannelClosedError: When the other side is gone.
    """
    try:
        policy.apply_before_order(is_apart=is_apart)
        reason = ""
    except OSError as error:
        reason = str(error)
    order = message_to_order(channel.receive_trusted())
    try:
        if not reason:
            policy.apply_with_order(order.limits, order.cpu_s, order.scratch)
    except OSError as error:
        reason = str(error)
    if reason:
        channel.send(("failed", reason))
    else:
        channel.send_encoded(_READY)
        carry_out(order, channel, output)


def carry_out(order: Order, channel: Channel, output: ChildOutput) -> None:
    """Do what an order asks for in this process, which is locked in; raises as `serve` does."""
    output.install(order.limits.output_bytes)
    if order.scratch is not None:
        os.environ.update(HOME=order.scratch, TMPDIR=order.scratch)
    sys.argv = ["solution"]
    if isinstance(order, CandidateOrder):
        serve_candidate(channel, order, output)
        return
    if order.is_linked:  # a channel over the same descriptor that takes sockets as well
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=CHANNEL)
        channel = Channel(SocketConnection(connected))
    serve_checker(channel, order)
