"""System calls that are made ready in one process, and made in its children.

A child copies every page of memory that it writes to. Reading an object writes too, because its
references are counted; this is why as little as possible is left to be done in a child.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from poor_bench.sandbox.linux import libc


class SystemCall(NamedTuple):
    """A system call that is still to be made; see `libc.system_call`."""

    name: str
    arguments: tuple[libc.Argument, ...]


_WITHOUT_EFFECT = SystemCall("chdir", (b".",))


class PreparedCalls:
    """System calls in order."""

    def __init__(self, calls: Iterable[SystemCall]) -> None:
        """Make the calls ready.

        Raises:
            OSError: If the number of one is not known for this machine.
        """
        self._calls = [(name, libc.raw_arguments(name, arguments)) for name, arguments in calls]
        self._raw_system_call = libc.raw_system_call()

    def make(self) -> None:
        """Make them all.

        Raises:
            OSError: If one failed, with its name; those after it are not made.
        """
        raw_system_call = self._raw_system_call
        for name, arguments in self._calls:
            if raw_system_call(*arguments) < 0:
                raise libc.failure_of(name)

    @contextmanager
    def without_effect(self) -> Iterator[None]:
        """Make calls that change nothing instead, as many of them."""
        name, arguments = _WITHOUT_EFFECT
        real = self._calls
        self._calls = [(name, libc.raw_arguments(name, arguments))] * len(real)
        try:
            yield
        finally:
            self._calls = real
