from __future__ import annotations

import threading

import pytest

from poor_bench.dashboard.services.computations import Computations, Computed
from poor_bench.errors import StoreError
from tests.waiting import wait_for


def test_quick_answers_come_at_once() -> None:
    background: Computations[int] = Computations(patience_s=30)
    assert background.ask("a", 1, lambda: 7) == Computed(value=7, is_current=True)


def test_nobody_waits_for_a_slow_answer() -> None:
    gate = threading.Event()
    background: Computations[int] = Computations(patience_s=0)

    def slow() -> int:
        gate.wait(30)
        return 7

    assert background.ask("a", 1, slow) == Computed(value=None, is_current=False)
    gate.set()
    wait_for(lambda: background.ask("a", 1, slow).is_current)
    assert background.ask("a", 1, slow) == Computed(value=7, is_current=True)


def test_an_older_value_stands_in_while_the_new_one_is_computed() -> None:
    gate = threading.Event()
    background: Computations[int] = Computations(patience_s=30)
    background.ask("a", 1, lambda: 1)
    impatient: Computations[int] = background
    impatient._patience_s = 0

    def slow() -> int:
        gate.wait(30)
        return 2

    assert background.ask("a", 2, slow) == Computed(value=1, is_current=False)
    gate.set()


def test_a_value_is_computed_once_for_each_version() -> None:
    background: Computations[int] = Computations(patience_s=30)
    calls: list[int] = []

    def count() -> int:
        calls.append(1)
        return len(calls)

    assert [background.ask("a", version, count).value for version in (1, 1, 2)] == [1, 1, 2]


def test_errors_reach_whoever_asks() -> None:
    background: Computations[int] = Computations(patience_s=30)

    def fail() -> int:
        raise StoreError("the file is gone")

    with pytest.raises(StoreError, match="the file is gone"):
        background.ask("a", 1, fail)


def test_topics_that_nobody_asked_for_lately_are_forgotten() -> None:
    background: Computations[int] = Computations(patience_s=30, n_kept=1)
    calls: list[str] = []
    for topic in ("a", "b", "a"):
        background.ask(topic, 1, lambda topic=topic: len(calls.append(topic) or calls))  # type: ignore[func-returns-value, misc]
    assert calls == ["a", "b", "a"]
