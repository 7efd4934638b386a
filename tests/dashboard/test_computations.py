from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

from poor_bench.dashboard.services.computations import (
    Computations,
    Computed,
    Kept,
    Requests,
    wait_for_value,
    waiting,
)
from poor_bench.errors import ConfigError, StoreError
from tests.waiting import wait_for

PATIENCE_S = 60.0


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


def test_one_who_asks_in_haste_does_not_wait() -> None:
    background: Computations[int] = Computations(patience_s=PATIENCE_S)
    gate = threading.Event()

    def slow() -> int:
        gate.wait(30)
        return 7

    with waiting(0):
        known = background.ask("a", 1, slow)
    assert known == Computed(value=None, is_current=False)
    gate.set()
    assert background.ask("a", 1, slow) == Computed(value=7, is_current=True)


def test_what_nobody_waits_for_begins_when_requests_are_answered() -> None:
    steps: list[str] = []

    class Noting(Requests):
        def give_way(self) -> None:
            steps.append("gave way")

    def compute() -> list[str]:
        return [*steps]

    background: Computations[list[str]] = Computations(patience_s=PATIENCE_S, requests=Noting())
    assert background.ask("awaited", 1, compute).value == []
    with waiting(0):
        background.ask("in passing", 1, compute)
    assert background.ask("in passing", 1, compute).value == ["gave way"]


def test_what_takes_longer_is_waited_for_once_however_often_it_is_asked_for() -> None:
    gate, now = threading.Event(), 0.0

    class Waiting(Requests):
        def waiting(self) -> AbstractContextManager[None]:
            gate.set()  # who waits gets the value
            return nullcontext()

    background: Computations[bool] = Computations(
        patience_s=PATIENCE_S, requests=Waiting(), monotonic=lambda: now
    )

    def ask() -> Computed[bool]:
        return background.ask("a", 1, lambda: gate.wait(30))

    with waiting(0):
        ask()
    now = PATIENCE_S
    assert ask() == Computed(value=None, is_current=False)
    now = PATIENCE_S / 2
    assert ask() == Computed(value=True, is_current=True)


def test_whoever_waits_is_answered_as_soon_as_there_is_something_to_show() -> None:
    background: Computations[int] = Computations(patience_s=PATIENCE_S)
    gate = threading.Event()

    class Telling(Requests):
        def waiting(self) -> AbstractContextManager[None]:
            threading.Timer(0, background.tell).start()
            return nullcontext()

    background._requests = Telling()
    known = background.ask("a", 1, lambda: int(gate.wait(2 * PATIENCE_S)))
    assert known == Computed(value=None, is_current=False)
    gate.set()
    wait_for(lambda: background.ask("a", 1, int).is_current)


def test_who_asks_after_something_was_told_does_not_wait_for_the_rest() -> None:
    background: Computations[int] = Computations(patience_s=30)
    gate = threading.Event()
    with waiting(0):
        background.ask("a", 1, lambda: int(gate.wait(10)))
    background.tell()
    assert background.ask("a", 1, int) == Computed(value=None, is_current=False)
    gate.set()


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


def test_who_waits_for_a_value_gets_the_current_or_else_a_new_one() -> None:
    def answers(*values: tuple[int | None, bool]) -> Callable[[], Computed[int]]:
        told = iter([Computed(value=value, is_current=is_now) for value, is_now in values])
        return lambda: next(told)

    assert wait_for_value(answers((7, True))) == 7
    assert wait_for_value(answers((None, False), (None, False), (7, True))) == 7
    assert wait_for_value(answers((7, False), (7, False), (7, True))) == 7
    assert wait_for_value(answers((7, False), (7, False), (8, False))) == 8


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


def test_a_value_is_computed_once_for_all_threads_that_ask_at_the_same_time() -> None:
    kept: Kept[int] = Kept()
    started, may_end = threading.Event(), threading.Event()
    computed, found = [], []

    def compute() -> int:
        computed.append(1)
        started.set()
        may_end.wait(PATIENCE_S)
        return 7

    threads = [
        threading.Thread(target=lambda: found.append(kept.get("key", compute))) for _ in range(3)
    ]
    threads[0].start()
    assert started.wait(PATIENCE_S)
    for thread in threads[1:]:
        thread.start()
    assert kept.get("other", lambda: 8) == 8, "another key does not wait"
    may_end.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert found == [7, 7, 7]
    assert computed == [1]


def test_what_a_computation_raises_is_not_kept() -> None:
    kept: Kept[int] = Kept()

    def fail() -> int:
        raise ConfigError("no file")

    with pytest.raises(ConfigError):
        kept.get("key", fail)
    assert kept.get("key", lambda: 1) == 1


def test_values_that_were_not_used_for_long_are_computed_again() -> None:
    kept: Kept[int | None] = Kept(2)
    assert kept.get("a", lambda: None) is None
    assert kept.get("b", lambda: 1) == 1
    assert kept.get("a", lambda: 2) is None, "None is a value, too"
    kept.get("c", lambda: 3)
    assert kept.get("a", lambda: 4) is None
    assert kept.get("b", lambda: 5) == 5


def test_what_is_computed_goes_on_while_nothing_is_asked() -> None:
    requests = Requests(longest_s=PATIENCE_S)
    requests.begin()
    requests.end()
    requests.give_way()


def test_what_is_computed_waits_for_the_end_of_a_request_and_of_those_in_it() -> None:
    requests = Requests(longest_s=PATIENCE_S)
    steps: list[str] = []
    for _ in range(2):
        requests.begin()
    thread = threading.Thread(target=lambda: (requests.give_way(), steps.append("computed")))
    thread.start()
    requests.end()
    steps.append("answered")
    requests.end()
    thread.join(PATIENCE_S)
    assert steps == ["answered", "computed"]


def test_work_goes_on_however_long_a_request_takes() -> None:
    requests = Requests(longest_s=0.01)
    requests.begin()
    requests.give_way()


def test_a_request_that_waits_for_a_value_does_not_hold_it_up() -> None:
    requests = Requests(longest_s=PATIENCE_S)
    background: Computations[int] = Computations(patience_s=PATIENCE_S, requests=requests)

    def compute() -> int:
        requests.give_way()
        return 7

    requests.begin()
    assert background.ask("a", 1, compute) == Computed(value=7, is_current=True)
