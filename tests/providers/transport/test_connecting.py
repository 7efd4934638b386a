from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from poor_bench.errors import RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from tests.providers.asking import ask, failure_of, make_provider


@pytest.fixture
def deaf_url() -> Iterator[str]:
    """A port whose queue of waiting connections is full: connecting to it gets no answer."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"
        for sock in waiting:
            sock.close()


def test_a_server_that_does_not_let_us_connect_times_out(deaf_url: str) -> None:
    control = CallControl(timeouts=Timeouts(connect_s=0.05))
    error = failure_of(make_provider("ollama", deaf_url), control)
    assert error.kind is FailureKind.TIMEOUT
    assert "connection in time" in str(error)


def test_a_call_can_be_cancelled_while_it_connects(deaf_url: str) -> None:
    cancelled = threading.Event()
    timer = threading.Timer(0.1, cancelled.set)
    timer.start()
    control = CallControl(timeouts=Timeouts(connect_s=60), cancelled=cancelled.is_set)
    with pytest.raises(RunCancelledError):
        ask(make_provider("ollama", deaf_url), control)
    timer.join()
