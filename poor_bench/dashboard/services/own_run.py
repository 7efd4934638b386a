"""The one run of a kind that this process may have under way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from poor_bench.errors import RunRefusedError

Work = Callable[[], None]


class OwnRun:
    """Owns the thread of the run; it goes on whether a browser is open or not."""

    def __init__(self, starting: threading.Lock | None = None) -> None:
        """Start nothing yet.

        Args:
            starting: Held while something that asks LLMs starts; shared by all that do.
        """
        self._lock = starting or threading.Lock()
        self._thread: threading.Thread | None = None
        self._order: Hashable = None

    def start(
        self, order: Hashable, require_nothing_else: Callable[[], None], prepare: Callable[[], Work]
    ) -> None:
        """Start a run; starting again what is running already changes nothing.

        Args:
            order: What is to be run.
            require_nothing_else: Raises RunRefusedError while other runs ask LLMs.
            prepare: Makes ready for a new run, and returns what its thread does.

        Raises:
            RunRefusedError: If another run is in progress.
        """
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                require_nothing_else()
                self._order = order
                self._thread = threading.Thread(target=prepare(), daemon=True)
                self._thread.start()
            elif order != self._order:
                raise RunRefusedError(
                    "another run is in progress", hint="Wait until it ends, or cancel it."
                )

    def wait(self, timeout_s: float | None = None) -> None:
        """Return as soon as the run is over."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
