"""The process of the command line: streams, stop signals and exit."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from poor_bench.pool.control import RunControl


def leave(code: int) -> NoReturn:
    """End the process with an exit code, after everything that was registered for its end.

    A background thread that is still inside a native library, such as a model in the middle of an
    answer that nobody waits for, would crash the ordinary way out as soon as it comes back.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if not others or not all(thread.daemon for thread in others):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads any more
            continue
    os._exit(code)


def open_missing_streams() -> None:
    """Open the null device where standard output or error is closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8"))


def discard_output() -> None:
    """Discard buffered output so that Python does not fail while exiting."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


_LAST_MOMENT_S = 1.0


@contextmanager
def stop_on_signal(control: RunControl) -> Iterator[None]:
    """Stop cleanly at the first Ctrl-C and at once at the second.

    Answers that are there already are given a moment to be scored and stored even then.
    """

    def leave_soon(code: int) -> None:
        control.wait_until_idle(_LAST_MOMENT_S)
        _leave_at_once(code)

    def stop(number: int, _frame: object) -> None:
        if control.cancelled():
            # In another thread: this one stores the results that are waited for.
            threading.Thread(target=leave_soon, args=(128 + number,), daemon=True).start()
            return
        control.cancel()
        click.echo("\nStopping: completed trials are stored. Ctrl-C again stops at once.", err=True)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _leave_at_once(code: int) -> None:
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")
    os._exit(code)
