"""Ends a browser that must not go on: the run was stopped, or the trial's time is over.

Playwright's calls wait, some without end (a download that drips, a page that never answers). When
Chromium's processes are gone, whatever waits for them fails at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from poor_bench.evaluation.browser.session.processes import end_process_group
from poor_bench.ports import Clock

_INTERVAL_S = 0.25


class Watchdog:
    """A thread that looks at the clock and at `cancelled`; use it as a context manager."""

    def __init__(
        self,
        process_group: int | None,
        clock: Clock,
        deadline_s: float,
        cancelled: Callable[[], bool],
    ) -> None:
        """Watch nothing yet.

        Args:
            process_group: Of Chromium.
            clock: Tells the time.
            deadline_s: On that clock.
            cancelled: Whether the run was stopped.
        """
        self._group = process_group
        self._clock = clock
        self._deadline_s = deadline_s
        self._cancelled = cancelled
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return self._clock.monotonic() > self._deadline_s

    def is_cancelled_within(self, seconds: float) -> bool:
        """Return whether the run is stopped, now or within `seconds`.

        Ctrl-C in a terminal reaches the browser too, and may end it before the run knows.
        """
        self._clock.wait(seconds, self._cancelled)
        return self._cancelled()

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_INTERVAL_S):
            if self._cancelled() or self.is_out_of_time:
                end_process_group(self._group)
                return
