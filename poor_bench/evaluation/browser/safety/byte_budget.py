"""How much a browser under test may receive in one trial."""

from __future__ import annotations

import threading

MOST_BYTES = 500_000_000


class ByteBudget:
    """Counts down from several threads."""

    def __init__(self, n_bytes: int = MOST_BYTES) -> None:
        self._n_left = n_bytes
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> None:
        """Use up some bytes.

        Raises:
            OSError: If there are not so many left; the connection is broken off then.
        """
        with self._lock:
            self._n_left -= n_bytes
            if self._n_left < 0:
                raise OSError("the trial received too much data")
