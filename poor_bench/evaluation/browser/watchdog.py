"""Ends what must not go on: the run was stopped, time is over, or an answer is overdue.

Playwright's calls wait, some without end: for a download that drips, a page in an endless loop, a
browser or a driver that is frozen. Nothing in them can be asked to stop; but when the processes are
gone, whatever waits for them fails at once. So a thread watches three limits, each inside the one
before:

1. the run: it ends when the user stops it;
2. the trial: `time_limit_s` of its task, counted from the moment its browser is ready;
3. the wait: how long one step may take, which is the start of the browser, an answer of a page, or
   the end of the browser. Waits nest: while an inner one lasts, the time of the outer one stands
   still.

What is past its limit is ended mildly first: the pages for an overdue answer, else Chromium.
Playwright's driver lives on and tells what happened. If that does not help within `mild_s`, the
driver is ended too: then `has_given_up` is true and nothing more can be learnt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from poor_bench.evaluation.browser.processes import BrowserProcesses
from poor_bench.ports import Clock

_INTERVAL_S = 0.25
_STANDSTILL_S = 4 * _INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Longest waits for a browser, in seconds."""

    start_s: float = 60
    answer_s: float = 60
    """For a page to answer: longer than all that Playwright itself gives up on."""
    new_tab_s: float = 20
    """More than `answer_s` for a new tab: it starts a process, and if that were ended as overdue,
    the tab would never come."""
    end_s: float = 10
    mild_s: float = 5
    """After a mild end of something, until everything is ended."""


@dataclass(slots=True)
class Limit:
    """End of a run, a trial or a wait."""

    due_s: float
    end_mildly: Callable[[], None]
    is_enforced: bool = False
    """True once something was ended because of it."""


class BrowserWatchdog:
    """Watches the browser of one trial; a context manager around all of its life."""

    def __init__(
        self,
        processes: BrowserProcesses,
        clock: Clock,
        cancelled: Callable[[], bool],
        patience: Patience,
    ) -> None:
        """Watch a browser that is not started yet.

        Args:
            processes: What is ended.
            clock: Source of time.
            cancelled: True once the run was stopped.
            patience: Longest waits.
        """
        self.has_given_up = False
        self.patience = patience
        self.processes = processes
        self._clock = clock
        self._cancelled = cancelled
        self._run: Limit | None = None
        self._trial: Limit | None = None
        self._wait: Limit | None = None
        self._enforcing = threading.Lock()
        """Held while something is ended: a wait that begins meanwhile must not be hit by the end
        of the one before it, so leaving a wait takes this lock."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start_trial(self, time_limit_s: float) -> None:
        """Start the time of the trial."""
        due_s = self._clock.monotonic() + time_limit_s
        self._trial = Limit(due_s, self.processes.end_chromium)

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

    def starting(self) -> AbstractContextManager[Limit]:
        """Limit the start of the browser."""
        return self._waiting(self.patience.start_s, self.processes.end)

    def ending(self) -> AbstractContextManager[Limit]:
        """Limit the time in which the browser ends by itself."""
        return self._waiting(self.patience.end_s, self.processes.end)

    def asking_page(self, more_s: float) -> AbstractContextManager[Limit]:
        """Limit an answer of a page; if it is overdue, all pages are ended first.

        Args:
            more_s: Seconds that the answer may take longer than others.
        """
        return self._waiting(self.patience.answer_s + more_s, self.processes.end_pages)

    @contextmanager
    def _waiting(self, seconds: float, end_mildly: Callable[[], None]) -> Iterator[Limit]:
        outer, begun_s = self._wait, self._clock.monotonic()
        limit = self._wait = Limit(begun_s + seconds, end_mildly)
        try:
            yield limit
        finally:
            with self._enforcing:
                if outer is not None:
                    outer.due_s += self._clock.monotonic() - begun_s
                self._wait = outer

    def __enter__(self) -> BrowserWatchdog:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()
        self.processes.end()

    def _watch(self) -> None:
        last_s = self._clock.monotonic()
        while not self._over.wait(_INTERVAL_S):
            now_s = self._clock.monotonic()
            with self._enforcing:
                # A machine that slept is forgiven: the browser could not answer either.
                if self._wait is not None and now_s - last_s > _STANDSTILL_S:
                    self._wait.due_s += now_s - last_s
                if self._run is None and self._cancelled():
                    self._run = Limit(now_s, self.processes.end_chromium)
                self._enforce(
                    [each for each in (self._run, self._trial, self._wait) if each], now_s
                )
            last_s = self._clock.monotonic()

    def _enforce(self, limits: list[Limit], now_s: float) -> None:
        overdue = [limit for limit in limits if now_s >= limit.due_s]
        if not overdue:
            return
        first = min(overdue, key=lambda limit: limit.due_s)
        first.is_enforced = True
        if now_s - first.due_s < self.patience.mild_s:
            first.end_mildly()
        else:
            self.has_given_up = True
            self.processes.end()
