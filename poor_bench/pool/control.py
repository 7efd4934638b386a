"""How a run is steered from outside: pause, resume, cancel."""

from __future__ import annotations

import threading


class RunControl:
    """Shared by a run and whoever steers it; safe to use from several threads."""

    def __init__(self) -> None:
        self._n_under_way = 0
        self._changed = threading.Condition()
        self._cancelled = threading.Event()
        self._paused = threading.Event()

    def cancel(self) -> None:
        """Stop as soon as possible: requests under way are given up and stay pending."""
        self._cancelled.set()
        self._paused.clear()

    def pause(self) -> None:
        """Start nothing new until `resume`; requests under way go on."""
        if not self._cancelled.is_set():
            self._paused.set()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._paused.clear()

    def cancelled(self) -> bool:
        """True if the run is to stop."""
        return self._cancelled.is_set()

    def is_paused(self) -> bool:
        """True if the run is to start nothing new."""
        return self._paused.is_set()

    def begin_job(self) -> None:
        """Count a job as under way until its result is stored."""
        with self._changed:
            self._n_under_way += 1

    def end_job(self) -> None:
        """Count a job as stored, or as given up."""
        with self._changed:
            self._n_under_way -= 1
            self._changed.notify_all()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Wait until no job is under way; return False after `timeout_s` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._n_under_way == 0, timeout_s)
