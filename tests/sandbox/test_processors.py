from __future__ import annotations

import socket

import pytest

from poor_bench.sandbox import workers as processors
from poor_bench.sandbox.workers import Processors

NUMBERS = [1000, 1001, 1002]
"""Of processors that no other process here has."""


def claim(address: str) -> socket.socket:
    """Take an address as another process would."""
    other = socket.socket(socket.AF_UNIX)
    other.bind(address)
    return other


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Let tests that run at the same time have addresses of their own."""
    monkeypatch.setattr(processors, "_ADDRESS", f"\0{tmp_path} {{}}, {{}}")
    monkeypatch.setattr(processors, "_list_processors", lambda: list(NUMBERS))


def test_each_processor_is_taken_once() -> None:
    some = Processors()
    assert [some.take() for _ in NUMBERS] == NUMBERS
    assert not some


def test_one_after_the_other_process_takes_another_processor() -> None:
    processes = [Processors() for _ in range(2 * len(NUMBERS))]
    assert [process.take() for process in processes] == NUMBERS * 2


def test_processor_of_a_process_that_ended_is_taken_again() -> None:
    first, second = Processors(), Processors()
    assert (first.take(), second.take()) == (1000, 1001)
    del first
    assert Processors().take() == 1000


def test_processor_that_another_process_has_is_taken_last() -> None:
    with claim(processors._ADDRESS.format(1000, 0)):
        some = Processors()
        assert [some.take() for _ in NUMBERS] == [1001, 1002, 1000]


def test_first_one_is_taken_where_the_system_has_no_such_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processors, "_ADDRESS", "/nowhere/{} {}")
    assert [Processors().take(), Processors().take()] == [1000, 1000]
