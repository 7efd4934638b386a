"""Plays through what children do, so that they find it all warm.

The interpreter rewrites code while it runs it for the first times, and fills its caches. A child
that does this anew touches, and so copies, memory that it would otherwise share.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from typing import Any

from poor_bench.sandbox.inside.child import carry_out, serve
from poor_bench.sandbox.inside.streams import Output
from poor_bench.sandbox.inside.walls import Walls
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.wire.channel import (
    Channel,
    ChannelClosedError,
    DescriptorConnection,
    SocketConnection,
)
from poor_bench.sandbox.wire.messages import CandidateOrder, message_to_order, order_to_message

_N_TIMES = 20
_PROGRAM = '''
from typing import Dict, List, Optional, Tuple


def solve(numbers: List[int], limit: float = 1.5) -> List[str]:
    """Return some numbers as text."""
    chosen = sorted({number: str(number) for number in numbers if number > limit}.items())
    for index, (number, text) in enumerate(chosen):
        while number < 0 or not text.isdigit():
            number += 1
    return [text + "!" for _, text in chosen]
'''
_CALLS: tuple[tuple[Any, ...], ...] = (
    ("call", ([3, 1, 2],), {}),
    ("call", ([],), {"limit": 2}),
    ("call", ("abc",), {}),
)


def rehearse(walls: Walls, output: Output) -> None:
    """Load and call a typical program in this process, as a child would.

    Args:
        walls: Those that are prepared are played as well, without effect.
        output: Of children; nothing is written.
    """
    streams, arguments, folder = (sys.stdout, sys.stderr), sys.argv, os.getcwd()
    with walls.without_effect():
        for _ in range(_N_TIMES):
            _rehearse_once(walls, output)
    (sys.stdout, sys.stderr), sys.argv = streams, arguments
    os.chdir(folder)


def _rehearse_once(walls: Walls, output: Output) -> None:
    order = CandidateOrder(
        setup="",
        source=_PROGRAM,
        function="solve",
        inputs=[],
        scratch=None,
        limits=Limits(),
        cpu_s=Limits().cpu_s_in_all,
    )
    # datagrams stay apart, as messages do that come one after the other; an empty one is the end
    ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    with ours, theirs, suppress(ChannelClosedError):
        for message in (order_to_message(order), *_CALLS):
            Channel(SocketConnection(ours)).send_trusted(message)
        ours.send(b"")
        channel = Channel(DescriptorConnection(theirs.fileno(), theirs.fileno()))
        if walls.are_prepared:
            serve(channel, walls, output, is_apart=False)
        else:
            carry_out(message_to_order(channel.receive_trusted()), channel, output)
