"""The real clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

_SLICE_S = 0.1


class SystemClock:
    """Time as the machine tells it; see `poor_bench.ports.Clock`."""

    def monotonic(self) -> float:
        """Return seconds since some fixed moment."""
        return time.monotonic()

    def now_iso(self) -> str:
        """Return the present moment as ISO 8601 with milliseconds, UTC."""
        return datetime.now(UTC).isoformat(timespec="milliseconds")

    def wait(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Return after `seconds`, or within a tenth of a second of `cancelled()` turning true."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not cancelled():
            time.sleep(min(left, _SLICE_S))
