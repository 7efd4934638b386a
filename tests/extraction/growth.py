"""Measure how the time of a function grows with the length of its input."""

from __future__ import annotations

import time
from collections.abc import Callable

_SHORT = 15_000
_FACTOR = 8
_NOISE_S = 0.05


def time_of(function: Callable[[str], object], text: str) -> float:
    """Return the seconds of CPU that one call takes."""
    start = time.process_time()
    function(text)
    return time.process_time() - start


def assert_linear(function: Callable[[str], object], pattern: str) -> None:
    """Check that eight times the text takes nowhere near 64 times as long."""
    short = pattern * (_SHORT // len(pattern))
    function(short)
    base = time_of(function, short) + _NOISE_S
    assert time_of(function, short * _FACTOR) < base * _FACTOR * 2.5
