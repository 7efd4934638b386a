"""How a run is steered from outside: pause, resume, cancel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class RunControl:
    """Shared by a run and whoever steers it; safe to use from several threads."""

    def __init__(self) -> None:
        self._n_under_way = 0
        self._changed = threading.Condition()
        self._cancelled = threading.Event()
        self._going = threading.Event()
        self._going.set()

    def cancel(self) -> None:
        """Stop as soon as possible: requests under way are given up and stay pending."""
        self._cancelled.set()
        self._going.set()

    def pause(self) -> None:
        """Start nothing new until `resume`; requests under way go on."""
        if not self._cancelled.is_set():
            self._going.clear()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._going.set()

    def cancelled(self) -> bool:
        """Return whether the run is to stop."""
        return self._cancelled.is_set()

    def paused(self) -> bool:
        """Return whether the run is to start nothing new."""
        return not self._going.is_set()

    @contextmanager
    def trial_under_way(self) -> Iterator[None]:
        """Hold while a trial is asked, scored and stored."""
        with self._changed:
            self._n_under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_under_way -= 1
                self._changed.notify_all()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Return whether no trial is under way any more, after at most some seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._n_under_way == 0, timeout_s)

    def wait_while_paused(self) -> None:
        """Return as soon as the run is not paused, or is cancelled."""
        self._going.wait()
