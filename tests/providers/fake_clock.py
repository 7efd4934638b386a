"""A clock that only goes on when somebody waits."""

from __future__ import annotations

from collections.abc import Callable


class FakeClock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now_iso(self) -> str:
        return "2026-01-02T03:04:05+00:00"

    def wait(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        if not cancelled():
            self.seconds += seconds
