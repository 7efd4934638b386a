"""Ctrl-C and the end of the session: stop cleanly, then at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from poor_bench.runner.control import RunControl

_LAST_MOMENT_S = 1.0


@contextmanager
def stop_on_signal(control: RunControl) -> Iterator[None]:
    """Stop cleanly at the first Ctrl-C and at once at the second.

    Answers that are there already are given a moment to be scored and stored even then.
    """

    def stop(number: int, _frame: object) -> None:
        if control.cancelled():
            control.wait_until_idle(_LAST_MOMENT_S)
            _leave_at_once(128 + number)
        control.cancel()
        click.echo("\nStopping: completed trials are stored. Ctrl-C again stops at once.", err=True)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _leave_at_once(code: int) -> None:
    import os
    import sys

    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")
    os._exit(code)
