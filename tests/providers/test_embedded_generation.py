from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.embedded_engine import Compute, Generation, Piece


class Started:
    """A generation at work, and when it has ended."""

    def __init__(self, compute: Compute) -> None:
        self.has_ended = threading.Event()
        self.generation = Generation(compute, lambda _: self.has_ended.set())
        self.generation.start()

    def pieces(self, check: Callable[[], None] = lambda: None) -> Iterator[Piece]:
        return self.generation.pieces(check)


def counting(numbers: Iterator[int]) -> Compute:
    def compute(take: Callable[[Piece], bool]) -> None:
        for number in numbers:
            if take({"number": number}):
                return

    return compute


def test_pieces_come_in_order() -> None:
    started = Started(counting(iter(range(3))))

    assert list(started.pieces()) == [{"number": 0}, {"number": 1}, {"number": 2}]


def test_refusal_reaches_whoever_asked() -> None:
    def refuse(take: Callable[[Piece], bool]) -> None:
        raise ProviderError("senseless", kind=FailureKind.BAD_REQUEST)

    with pytest.raises(ProviderError, match="senseless"):
        list(Started(refuse).pieces())


def test_stopping_ends_the_computation() -> None:
    started = Started(counting(count()))

    started.generation.stop()

    assert started.has_ended.wait(10)


def test_cancelled_run_does_not_wait_for_a_busy_engine() -> None:
    may_go_on = threading.Event()

    def cancelled() -> None:
        raise RunCancelledError("the run was stopped")

    started = Started(lambda take: may_go_on.wait() and None)
    with pytest.raises(RunCancelledError):
        list(started.pieces(cancelled))

    assert not started.has_ended.is_set()
    may_go_on.set()


def test_abandoned_generation_tells_whoever_waits() -> None:
    may_go_on = threading.Event()
    started = Started(lambda take: may_go_on.wait() and None)

    started.generation.abandon()

    with pytest.raises(RunCancelledError, match="unloaded"):
        list(started.pieces())
    may_go_on.set()


def test_joining_waits_for_the_end() -> None:
    started = Started(counting(iter(range(1000))))

    started.generation.join(10)

    assert started.has_ended.is_set()
