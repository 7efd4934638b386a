"""A child's life: take an order, lock itself in, carry it out, end."""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

from poor_bench.sandbox.inside.attempt import Attempt
from poor_bench.sandbox.inside.candidate import serve_candidate
from poor_bench.sandbox.inside.checker import serve_checker
from poor_bench.sandbox.inside.descriptors import CHANNEL
from poor_bench.sandbox.inside.streams import Output
from poor_bench.sandbox.inside.walls import Walls
from poor_bench.sandbox.wire.channel import Channel, SocketConnection
from poor_bench.sandbox.wire.messages import CandidateOrder, Order, message_to_order


def live(channel: Channel, walls: Walls, output: Output) -> NoReturn:
    """Carry out the order that comes over `channel`, and end this process."""
    with Attempt():
        order = message_to_order(channel.receive_trusted())
        if _is_locked_in(order, walls, channel):
            _carry_out(order, channel, output)
    os._exit(0)


def _is_locked_in(order: Order, walls: Walls, channel: Channel) -> bool:
    try:
        walls.put_up(order.limits, order.cpu_s, order.scratch)
    except OSError as error:
        channel.send(("failed", str(error)))
        return False
    channel.send(("ready",))
    return True


def _carry_out(order: Order, channel: Channel, output: Output) -> None:
    output.n_bytes_left = order.limits.output_bytes
    if order.scratch is not None:
        os.environ.update(HOME=order.scratch, TMPDIR=order.scratch)
    sys.argv = ["solution"]
    if isinstance(order, CandidateOrder):
        serve_candidate(channel, order, output)
    else:
        serve_checker(_with_sockets(channel) if order.is_linked else channel, order)


def _with_sockets(channel: Channel) -> Channel:
    """Return a channel over the same descriptor that takes sockets as well."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=CHANNEL)
    return Channel(SocketConnection(connected))
