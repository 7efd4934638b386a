"""What the zygote does so that its forks copy little memory.

fork(2) copies the page table and no memory: the child shares every page with the zygote until one
of the two writes to it; then the kernel copies that page. That is most of what a child costs, and
Python writes where a program only reads:

- Each use of an object changes its count of references, on the object's page.
- The garbage collector writes into the header of every object it looks at.
- The interpreter rewrites code in place while it runs it for the first times, and fills caches of
  attributes, of imports and of regular expressions (PEP 659).
- A new object goes into the nearest gap between old ones, so a few of them touch many pages.

So common modules are loaded once (`preload`), a typical program is played through (`rehearse`), and
then the collector is kept away from what is there and the gaps are filled (`freeze`).
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from poor_bench.sandbox.channel import (
    Channel,
    ChannelClosedError,
    DescriptorConnection,
    SocketConnection,
)
from poor_bench.sandbox.inside.child import carry_out, serve
from poor_bench.sandbox.inside.descriptors import ChildOutput
from poor_bench.sandbox.inside.policy import SandboxPolicy
from poor_bench.sandbox.messages import CandidateOrder, message_to_order, order_to_message
from poor_bench.sandbox.program import Limits

# not those that do work at every fork (logging, random, threading), nor large ones that few use
# (dataclasses brings inspect and ast): each page of memory and each library makes every fork slower
_COMMON_MODULES = (
    "abc collections collections.abc copy enum functools heapq itertools math "
    "operator re resource string types typing"
)
# CPython keeps small objects in pools of one size each; the first object of a new pool comes right
# after the header of the pool (Objects/obmalloc.c)
_SIZES = range(16, 513, 16)
_POOL_SIZE, _POOL_HEADER = 16 * 1024, 48
_MOST_GAPS = 10_000
_EMPTY_BYTES = 33
_fillers: list[object] = []
# code is rewritten after eight calls, and what it calls in turn a little later
_N_TIMES = 20
_PROGRAM = '''
from typing import Dict, List, Optional, Tuple


def solve(numbers: List[int], limit: float = 1.5) -> List[str]:
    """Write some numbers as text."""
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


def preload() -> None:
    """Import common modules."""
    for name in _COMMON_MODULES.split():
        with suppress(ImportError):
            importlib.import_module(name)


def rehearse(policy: SandboxPolicy, output: ChildOutput) -> None:
    """Load and call a typical program in this process, as a child would.

    Args:
        policy: What it has prepared is played through as well, without effect.
        output: Of children; nothing is written.
    """
    streams, arguments, folder = (sys.stdout, sys.stderr), sys.argv, os.getcwd()
    with policy.without_effect():
        for _ in range(_N_TIMES):
            _rehearse_once(policy, output)
    (sys.stdout, sys.stderr), sys.argv = streams, arguments
    os.chdir(folder)


def _rehearse_once(policy: SandboxPolicy, output: ChildOutput) -> None:
    order = CandidateOrder(
        limits=Limits(),
        cpu_s=Limits().total_cpu_s,
        setup="",
        source=_PROGRAM,
        function="solve",
        inputs=[],
    )
    # datagrams stay apart, as messages do that come one after the other; an empty one is the end
    ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    with ours, theirs, suppress(ChannelClosedError):
        for message in (order_to_message(order), *_CALLS):
            Channel(SocketConnection(ours)).send_trusted(message)
        ours.send(b"")
        channel = Channel(DescriptorConnection(theirs.fileno(), theirs.fileno()))
        if policy.is_prepared:
            serve(channel, policy, output, is_apart=False)
        else:
            carry_out(message_to_order(channel.receive_trusted()), channel, output)


def freeze() -> None:
    """Keep the garbage collector, and memory for new objects, away from what is there now."""
    gc.collect()
    _fillers.extend(_fill_gaps())
    gc.freeze()


def _fill_gaps() -> Iterator[object]:
    """Yield objects that fill the gaps between those that are there, where Python leaves any.

    What a child makes then lies together in new memory, instead of on many pages to be copied.
    """
    for size in _SIZES:
        for _ in range(_MOST_GAPS):
            filler = _make_object(size)
            if id(filler) % _POOL_SIZE == _POOL_HEADER:
                break  # the first in new memory: no gap is left
            yield filler


def _make_object(size: int) -> object:
    # not containers: the garbage collector would look at them
    if size == sys.getsizeof(object()):
        return object()
    return complex(size) if size == sys.getsizeof(0j) else bytes(size - _EMPTY_BYTES)
