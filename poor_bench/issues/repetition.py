"""Repetition at the end of a text."""

from __future__ import annotations

from dataclasses import dataclass

_TAIL = 2000
_LONGEST_UNIT = 300
_LEAST_LENGTH = 200
_LEAST_TIMES = 5


@dataclass(frozen=True, slots=True)
class RepeatedTail:
    """Repeated piece at the end of a text, counted in its last 2,000 characters."""

    unit: str
    times: int


def repeated_tail(text: str) -> RepeatedTail | None:
    """Find the repetition at the end of `text`, or None.

    A loop is a piece of up to 300 characters that stands at the end at least 5 times in a row,
    over at least 200 characters. The time needed does not depend on the length of the text.

    Args:
        text: A response, or thinking.

    Example:
        >>> repeated_tail("The answer is " + "no, wait. " * 50)
        RepeatedTail(unit=' no, wait.', times=50)
    """
    tail = text[-_TAIL:].rstrip()
    for period in range(1, min(_LONGEST_UNIT, len(tail) // _LEAST_TIMES) + 1):
        least = max(_LEAST_LENGTH, _LEAST_TIMES * period)
        if least <= len(tail) and tail[-least:-period] == tail[period - least :]:
            return _describe(tail, period)
    return None


def _describe(tail: str, period: int) -> RepeatedTail:
    start = len(tail) - period
    while start >= period and tail[start - period : start] == tail[start : start + period]:
        start -= period
    return RepeatedTail(tail[start : start + period], (len(tail) - start) // period)
