"""How a run is steered from outside: pause, resume, cancel."""

from __future__ import annotations

import threading


class RunControl:
    """Shared by a run and whoever steers it; safe to use from several threads."""

    def __init__(self) -> None:
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

    def wait_while_paused(self) -> None:
        """Return as soon as the run is not paused, or is cancelled."""
        self._going.wait()
