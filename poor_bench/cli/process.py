"""The process of the command line: streams, stop signals and exit."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
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


PIPED_WIDTH = 200
"""Characters of a line that is not for a terminal, where a table needs no more."""
_THREADS = "OPENBLAS_NUM_THREADS"
_OBJECTS = 100_000
"""New objects after which unused ones are searched for; Python's own number is 700."""


def prepare_to_look() -> None:
    """Spare a command that only reads and shows what would take longer than it saves.

    That are threads of numpy, where it is not there yet, and most searches for unused objects.
    """
    undo_at_end = click.get_current_context().call_on_close
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *usual[1:])
    undo_at_end(lambda: gc.set_threshold(*usual))
    if "numpy" not in sys.modules and _THREADS not in os.environ:
        os.environ[_THREADS] = "1"
        undo_at_end(lambda: os.environ.pop(_THREADS, None))


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
_NO_MORE = 0


@contextmanager
def stop_on_signal(control: RunControl) -> Iterator[None]:
    """Stop cleanly at the first Ctrl-C and at once at the second.

    Answers that are there already are given a moment to be scored and stored even then.
    """
    # A handler interrupts this thread anywhere, also where it holds the lock of a stream or of a
    # thread that starts: so it only passes the signal on, to a thread that may wait for them.
    signals: SimpleQueue[int] = SimpleQueue()
    thread = threading.Thread(target=_obey, args=(signals, control), daemon=True)
    thread.start()

    def pass_on(number: int, _frame: object) -> None:
        signals.put(number)

    handled = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, pass_on) for number in handled}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        signals.put(_NO_MORE)
        thread.join()


def _obey(signals: SimpleQueue[int], control: RunControl) -> None:
    while (number := signals.get()) != _NO_MORE:
        if control.cancelled():
            control.wait_until_idle(_LAST_MOMENT_S)
            _leave_at_once(128 + number)
        control.cancel()
        click.echo("\nStopping: completed trials are stored. Ctrl-C again stops at once.", err=True)


def _leave_at_once(code: int) -> None:
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")
    os._exit(code)
