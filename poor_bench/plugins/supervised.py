"""Calls code that a user dropped in: within a time limit, and with what it prints kept apart.

A call runs in a thread of its own. One that does not end in time is left to itself: Python cannot
end a thread, but a run goes on without it, and it does not keep the process from ending.
"""

from __future__ import annotations

import faulthandler
import io
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import Any, Generic, NoReturn, TypeVar

T = TypeVar("T")

_MAX_PRINTED = 20_000
_real_exit = os._exit
_own_process = os.getpid()
_printed: ContextVar[_Printed | None] = ContextVar("printed", default=None)


class TookTooLongError(Exception):
    """Code that a user dropped in did not end in time."""


def call_supervised(function: Callable[[], T], limit_s: float | None) -> tuple[T, str]:
    """Call a function in a thread of its own.

    Args:
        function: Code of a user.
        limit_s: Seconds that it may take; None where it waits for others that have limits.

    Returns:
        What it returns, and what it printed.

    Raises:
        TookTooLongError: If it did not end in time.
        LeftError: If it raised what is not an Exception, such as KeyboardInterrupt.
        Exception: Whatever else the function raises, SystemExit included.
    """
    _put_streams_in_place()
    _keep_process_from_ending()
    call = _Call(function)
    thread = threading.Thread(target=copy_context().run, args=(call,), daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise TookTooLongError(f"it did not end within {limit_s:g} s")
    return call.outcome(), call.printed.getvalue()


class LeftError(Exception):
    """Code that a user dropped in tried to end the process or the thread that it runs in."""


class _Printed(io.StringIO):
    """Keeps the beginning of what is printed."""

    def write(self, text: str, /) -> int:
        super().write(text[: max(0, _MAX_PRINTED - self.tell())])
        return len(text)


class _Call(Generic[T]):
    """A call, and what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.printed = _Printed()
        self._function = function
        self._returned: list[T] = []
        self._raised: BaseException | None = None

    def __call__(self) -> None:
        _printed.set(self.printed)
        try:
            self._returned.append(self._function())
        except BaseException as error:  # noqa: BLE001 - raised again where the call came from
            self._raised = error

    def outcome(self) -> T:
        """Give or raise what the function did."""
        if isinstance(self._raised, Exception | SystemExit):
            raise self._raised
        if self._raised is not None:
            raise LeftError(f"it raised {type(self._raised).__name__}") from self._raised
        return self._returned[0]


class _Stream:
    """Stands for stdout or stderr; what supervised code writes there is kept by its call."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def write(self, text: str) -> int:
        written: int = (_printed.get() or self._real).write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _put_streams_in_place() -> None:
    if not isinstance(sys.stdout, _Stream):
        sys.stdout = _Stream(sys.stdout)
    if not isinstance(sys.stderr, _Stream):
        sys.stderr = _Stream(sys.stderr)


def _keep_process_from_ending() -> None:
    """Have `os._exit` fail in supervised code, and a crash of the interpreter tell its line."""
    if os._exit is not _exit_unless_supervised:
        os._exit = _exit_unless_supervised
    if not faulthandler.is_enabled() and sys.__stderr__ is not None:
        with suppress(OSError, ValueError):  # stderr may be closed
            faulthandler.enable(sys.__stderr__)


def _exit_unless_supervised(status: int) -> NoReturn:
    # processes that supervised code forks end as they like
    if _printed.get() is not None and os.getpid() == _own_process:
        raise LeftError(f"it called os._exit({status})")
    _real_exit(status)
