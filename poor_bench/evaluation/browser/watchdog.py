"""Ends what must not go on: the run was stopped, time is over, or no answer came.

Playwright's calls wait, some without end: for a download that drips, a page in an endless loop, a
browser or a driver that is frozen. Nothing in them can be asked to stop; but when the processes are
gone, whatever waits for them fails at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

from poor_bench.evaluation.browser.processes import BrowserProcesses
from poor_bench.ports import Clock

_INTERVAL_S = 0.25
_STANDSTILL_S = 4 * _INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long is waited for a browser, in seconds."""

    start_s: float = 60
    answer_s: float = 60
    """For a page to answer: longer than all that Playwright itself gives up on."""
    end_s: float = 10
    mild_s: float = 5
    """How long a mild way to end something is tried before everything is ended."""


@dataclass(slots=True)
class Limit:
    """Until when something has to be over, and whether it had to be ended."""

    due_s: float
    end: Callable[[], None]
    """The mild way to end it."""
    is_enforced: bool = False


class BrowserWatchdog:
    """A thread beside the one that uses the browser; a context manager around all of its life.

    Mild ways come first, so that as much as possible can be told of what happened; `has_given_up`
    says that they did not help.
    """

    def __init__(
        self,
        processes: BrowserProcesses,
        clock: Clock,
        cancelled: Callable[[], bool],
        patience: Patience,
    ) -> None:
        """Watch nothing yet.

        Args:
            processes: What is ended.
            clock: Tells the time.
            cancelled: Whether the run was stopped.
            patience: With whatever does not answer.
        """
        self.has_given_up = False
        self.patience = patience
        self._processes = processes
        self._clock = clock
        self._cancelled = cancelled
        self._limit: Limit | None = None
        self._trial: Limit | None = None
        self._stopped: Limit | None = None
        self._enforcing = threading.Lock()
        """Held while something is ended, so that nothing is hit that begins after it."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start_trial(self, time_limit_s: float) -> None:
        """Let the time of the trial begin."""
        due_s = self._clock.monotonic() + time_limit_s
        self._trial = Limit(due_s, self._processes.end_chromium)

    @property
    def is_out_of_time(self) -> bool:
        """True once the time of the trial is over."""
        return self._trial is not None and self._clock.monotonic() > self._trial.due_s

    def is_cancelled_within(self, seconds: float) -> bool:
        """True if the run is stopped, now or within `seconds`.

        Ctrl-C in a terminal reaches the browser too, and may end it before the run knows.
        """
        self._clock.wait(seconds, self._cancelled)
        return self._cancelled()

    @contextmanager
    def starting(self) -> Iterator[Limit]:
        """Hold while the browser starts."""
        with self._within(self.patience.start_s, self._processes.end) as limit:
            yield limit

    @contextmanager
    def ending(self) -> Iterator[Limit]:
        """Hold while the browser ends by itself."""
        with self._within(self.patience.end_s, self._processes.end) as limit:
            yield limit

    @contextmanager
    def asking_page(self, more_s: float) -> Iterator[Limit]:
        """Hold while a page is asked; if it does not answer, all pages are ended first.

        Args:
            more_s: Seconds that the answer may take longer than others.
        """
        seconds = self.patience.answer_s + more_s
        with self._within(seconds, self._processes.end_pages) as limit:
            yield limit

    @contextmanager
    def _within(self, seconds: float, end: Callable[[], None]) -> Iterator[Limit]:
        around, begun_s = self._limit, self._clock.monotonic()
        limit = self._limit = Limit(begun_s + seconds, end)
        try:
            yield limit
        finally:
            with self._enforcing:
                if around is not None:
                    around.due_s += self._clock.monotonic() - begun_s
                self._limit = around

    def __enter__(self) -> BrowserWatchdog:
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
        self._processes.end()

    def _watch(self) -> None:
        last_s = self._clock.monotonic()
        while not self._over.wait(_INTERVAL_S):
            now_s = self._clock.monotonic()
            self._forgive(now_s - last_s)
            last_s = now_s
            with self._enforcing:
                overdue = [limit for limit in self._limits(now_s) if now_s > limit.due_s]
                if overdue:
                    self._enforce(min(overdue, key=lambda limit: limit.due_s), now_s)

    def _forgive(self, seconds: float) -> None:
        """Do not count time in which the machine stood still, for this thread as for a browser."""
        limit = self._limit
        if limit is not None and seconds > _STANDSTILL_S:
            limit.due_s += seconds

    def _limits(self, now_s: float) -> list[Limit]:
        if self._stopped is None and self._cancelled():
            self._stopped = Limit(now_s - _INTERVAL_S, self._processes.end_chromium)
        return [limit for limit in (self._limit, self._trial, self._stopped) if limit]

    def _enforce(self, limit: Limit, now_s: float) -> None:
        limit.is_enforced = True
        if now_s - limit.due_s < self.patience.mild_s:
            limit.end()
        else:
            self.has_given_up = True
            self._processes.end()
