"""Waiting for what another thread or process does: with an end, on machines of any speed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MOST_S = 120
"""After which a test stops waiting and fails: far longer than a slow, busy machine takes."""
_LONGEST_PAUSE_S = 0.1


def wait_for(answer: Callable[[], T], told: Callable[[], object] = lambda: "waited in vain") -> T:
    """Return the first answer that is true.

    Args:
        answer: Asked again and again, at first after milliseconds.
        told: Gives the message of the failure after two minutes.
    """
    deadline = time.monotonic() + MOST_S
    pause_s = 0.002
    while not (found := answer()):
        assert time.monotonic() < deadline, told()
        threading.Event().wait(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return found
