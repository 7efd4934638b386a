"""No text of a model, however nasty, keeps one of our regular expressions busy."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.security.patterns import Found, all_patterns, nasty_texts

NEVER = float("inf")
SHORT, MIDDLE, LONG = 4_000, 120_000, 480_000
SHORT_S, HARMLESS_LONG_S, LONG_S = 0.1, 1.0, 4.0
"""Seconds of CPU; linear patterns need up to 1 s for a long text, by machine, others minutes."""
HARMLESS_S = HARMLESS_LONG_S * (MIDDLE / LONG) ** 2
"""For a middle text. Even if this time grew as a square, a long text would be harmless."""
LINEAR_GROWTH = 2.5 * LONG / MIDDLE
"""From a middle to a long text, at most; a square grows four times as much as a line."""
SENTINEL = "\x00!"
"""Ends a text, so that a pattern which wants more has to go back."""


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    """All patterns of the package."""
    return all_patterns()


class TooSlowError(Exception):
    """The time is up."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise within whatever goes on once it has taken so many seconds of CPU."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def time_of(pattern: Any, text: str, seconds: float) -> float:
    """Return the seconds of CPU that all ways to use a pattern take."""
    start = time.process_time()
    try:
        with at_most(seconds):
            for _ in pattern.finditer(text):
                pass
            pattern.fullmatch(text)
    except TooSlowError:
        return NEVER
    taken = time.process_time() - start
    return taken if taken <= seconds else NEVER  # signals may come late while a pattern runs


def of_length(piece: str, length: int) -> str:
    return piece * (length // len(piece)) + SENTINEL


def slow_pieces(pattern: Any) -> Iterator[str]:
    """Yield the pieces of text which, repeated, keep a pattern busy, the worst first."""
    pieces = nasty_texts(pattern)
    times = {piece: time_of(pattern, of_length(piece, SHORT), SHORT_S) for piece in pieces}
    worst = sorted(pieces, key=lambda piece: times[piece])[
        -3:
    ]  # another process may make one look slow
    for piece in reversed(worst):
        if times[piece] == NEVER or is_slow(pattern, piece):
            yield piece


def is_slow(pattern: Any, piece: str) -> bool:
    """Return whether a long text of a piece keeps a pattern busy; most need no long text.

    Ratios tell, since machines differ: a time that grows faster than the text, from one that
    is long enough to be measured, or one that is too long on any machine.
    """
    middle = time_of(pattern, of_length(piece, MIDDLE), LONG_S)
    if middle <= HARMLESS_S or middle == NEVER:
        return middle == NEVER
    long = time_of(pattern, of_length(piece, LONG), LONG_S)
    return long > max(HARMLESS_LONG_S, LINEAR_GROWTH * middle)


@pytest.mark.slow(reason="times every pattern of the project")
def test_all_patterns_take_linear_time(patterns: list[Found]) -> None:
    assert not {
        f"{item.place} {item.pattern.pattern!r}": slow
        for item in patterns
        if (slow := [*slow_pieces(item.pattern)])
    }


@pytest.mark.slow(reason="measures patterns that take quadratic time")
@pytest.mark.parametrize("source", [r"\w+Error\b", r"\s+$", r"\[[^\]]*\]|\d+"])
def test_slow_patterns_are_found_out(source: str) -> None:
    assert any(slow_pieces(re.compile(source)))


@pytest.mark.parametrize("source", [r"\bError\w++", r"[a-z]", r"\[[^\]]{0,50}\]"])
def test_linear_patterns_are_left_alone(source: str) -> None:
    assert not [*slow_pieces(re.compile(source))]


@pytest.mark.slow(reason="reads the whole package")
def test_patterns_are_found_wherever_they_stand(patterns: list[Found]) -> None:
    places = {item.place.partition(":")[0] for item in patterns}
    assert {
        "poor_bench.scoring.older_results._SAID",
        "poor_bench.extraction.code",
        "poor_bench.extraction.refusal_rules.load_refusal_phrases",
        "poor_bench.providers.failures._RULES",
        "evaluators.reasoning_gym_scorer._BOARD",
    } <= places
