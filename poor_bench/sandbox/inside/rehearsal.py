"""Plays through what children do, so that they find it all warm.

The interpreter rewrites code while it runs it for the first times, and fills its caches. A child
that does this anew touches, and so copies, memory that it would otherwise share.
"""

from __future__ import annotations

from typing import Any

from poor_bench.sandbox.inside.candidate import serve_candidate
from poor_bench.sandbox.inside.streams import Output
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.wire.channel import Channel, ChannelClosedError
from poor_bench.sandbox.wire.encoding import encode
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


class _Script:
    """A connection on which everything was said in advance."""

    def __init__(self, messages: list[object]) -> None:
        self._messages = messages

    def read(self, _deadline: float | None) -> bytes:
        if not self._messages:
            raise ChannelClosedError
        encoded = encode(self._messages.pop(0))
        return len(encoded).to_bytes(4, "big") + encoded

    def write(self, content: bytes, _deadline: float | None) -> None:
        del content


def rehearse(output: Output) -> None:
    """Load and call a typical program in this process."""
    order = CandidateOrder(
        setup="",
        source=_PROGRAM,
        function="solve",
        inputs=[],
        scratch=None,
        limits=Limits(),
        cpu_s=1,
    )
    for _ in range(_N_TIMES):
        channel = Channel(_Script([order_to_message(order), *_CALLS]))
        received = message_to_order(channel.receive_trusted())
        assert isinstance(received, CandidateOrder)
        try:
            serve_candidate(channel, received, output)
        except ChannelClosedError:
            continue
