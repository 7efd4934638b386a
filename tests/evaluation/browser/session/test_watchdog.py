from __future__ import annotations

import threading
from typing import Any

from poor_bench.calls.caller import SystemClock
from poor_bench.evaluation.browser.watchdog import BrowserWatchdog, Patience


class Processes:
    """Ends pages slowly, and notes whether somebody went on meanwhile."""

    def __init__(self) -> None:
        self.is_ending = threading.Event()
        self.has_gone_on = threading.Event()
        self.was_too_late = False

    def end_pages(self) -> None:
        self.is_ending.set()
        self.was_too_late |= self.has_gone_on.wait(0.5)

    def end(self) -> None:
        """Nothing is left."""


def test_what_begins_after_a_limit_is_not_hit_by_what_was_overdue_before() -> None:
    processes: Any = Processes()
    patience = Patience(answer_s=0, mild_s=60)
    with BrowserWatchdog(processes, SystemClock(), lambda: False, patience) as watchdog:
        with watchdog.asking_page(0):
            assert processes.is_ending.wait(30)
        processes.has_gone_on.set()
    assert not processes.was_too_late
