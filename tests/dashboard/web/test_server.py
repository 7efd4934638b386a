from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest
from flask import Flask, request

from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.web import server
from poor_bench.dashboard.web.access import Access, Guard
from poor_bench.dashboard.web.server import open_server
from poor_bench.errors import ConfigError
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of


class Reading:
    """Services that read as they are told to."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.results = self
        self.summaries = lambda _by: read()
        self.ranking = lambda: None


def read_ahead(read: Callable[[], Any]) -> list[str]:
    said: list[str] = []
    server._read_ahead(cast("Services", Reading(read)), said.append)
    return said


def test_reading_that_takes_long_is_told_and_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 0)
    monkeypatch.setattr(server, "_PATIENCE_S", 0)
    goes_on = threading.Event()
    try:
        assert read_ahead(lambda: goes_on.wait(20)) == ["Reading the results ..."]
    finally:
        goes_on.set()


def test_quick_reading_is_over_before_the_first_page_and_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 60)
    done: list[bool] = []
    assert read_ahead(lambda: done.append(True)) == []
    assert done


def test_faults_of_the_workspace_are_left_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 60)

    def fail() -> None:
        raise ConfigError("tests.json is broken")

    assert read_ahead(fail) == []


def test_the_next_start_tells_of_a_run_whose_process_was_killed(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_of(workspace_files.write())
    store = services.files.config().store
    said: list[str] = []
    running = store.open_run("20260102T030405-aaaaaa", {"n_items": 1_200})
    server.tell_interrupted(services, said.append)
    assert said == []
    running.close()
    server.tell_interrupted(services, said.append)
    assert said[0].startswith("Run 20260102T030405-aaaaaa of 1,200 trials was interrupted.")
    assert len(said) == 1


PASSWORD = "hemlig hemlig"
RIGHT = base64.b64encode(f":{PASSWORD}".encode()).decode()


class Served:
    """A server on a port of its own, and raw connections to it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        app, self.bodies = Flask(__name__), list[int]()

        @app.route("/", methods=["GET", "POST"])
        def _answer() -> str:
            self.bodies.append(len(request.get_data()))
            return "hello"

        guard = Guard(Access(host="127.0.0.1", port=self._free_port(), password=PASSWORD), now)
        self.port = guard.access.port
        self._server = open_server(app, guard)
        thread = threading.Thread(target=self._server.run, daemon=True)
        thread.start()
        stack.callback(thread.join, 10)
        stack.callback(self._server.close)

    def _free_port(self) -> int:
        holder = self._stack.enter_context(socket.socket())
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        return port

    def send(self, data: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self._stack.callback(connection.close)
        connection.sendall(self.addressed(data))
        return connection

    def addressed(self, data: bytes) -> bytes:
        return data.replace(b"PORT", str(self.port).encode())

    def status(self, data: bytes) -> int:
        return int(self.send(data).recv(4096).split()[1])


def now() -> float:
    return 0.0


def head(length: int, authorization: str = RIGHT, *more: str) -> bytes:
    lines = ["POST / HTTP/1.1", "Host: localhost:PORT", f"Authorization: Basic {authorization}"]
    return "\r\n".join([*lines, f"Content-Length: {length}", *more, "", ""]).encode("latin-1")


@pytest.fixture
def served() -> Iterator[Served]:
    with ExitStack() as stack:
        yield Served(stack)


def test_a_request_with_the_password_is_answered(served: Served) -> None:
    assert served.status(head(5) + b"hello") == 200
    assert served.bodies == [5]


def test_a_body_without_the_password_is_refused_before_it_is_read(served: Served) -> None:
    wrong = base64.b64encode(b":wrong").decode()
    assert served.status(head(10_000_000, wrong)) == 401
    assert served.status(head(10_000_000, wrong, "Expect: 100-continue")) == 401
    chunked = head(0, wrong).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    assert served.status(chunked) == 401
    assert served.bodies == []


def test_guessing_by_bodies_is_slowed_down_too(served: Served) -> None:
    wrong = base64.b64encode(b":wrong").decode()
    assert {served.status(head(10_000_000, wrong)) for _ in range(8)} == {401, 429}


def test_a_password_in_other_letters_is_wrong_and_no_failure_of_the_server(
    served: Served,
) -> None:
    assert served.status(head(5, "hemlig ö")) == 401


@pytest.mark.parametrize("more", [(), ("Expect: 100-continue",)])
def test_a_large_body_is_refused_even_with_the_password(
    served: Served, more: tuple[str, ...]
) -> None:
    assert served.status(head(200_000_000, RIGHT, *more)) == 413
    assert served.bodies == []


def test_half_sent_requests_do_not_keep_others_out(served: Served) -> None:
    for _ in range(server.MAX_CONNECTIONS + 50):
        served.send(b"POST / HTTP/1.1\r\nHost: ")
    assert served.status(head(5) + b"hello") == 200


def test_a_request_that_never_ends_is_dropped(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADER_S", 0.0)
    monkeypatch.setattr(server, "BODY_S", 0.0)
    for data in (b"", b"POST / HT", head(10) + b"half"):
        assert _is_closed(served.send(data))


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(4096) == b""
    except ConnectionResetError:
        return True


def test_an_idle_connection_after_an_answer_is_kept(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = served.send(head(0))
    assert _answer(connection).startswith(b"HTTP/1.1 200")
    monkeypatch.setattr(server, "HEADER_S", 0.0)
    monkeypatch.setattr(server, "BODY_S", 0.0)
    assert _is_closed(served.send(b"POST /"))  # the loop went round meanwhile
    monkeypatch.undo()
    connection.sendall(served.addressed(head(0)))
    assert _answer(connection).startswith(b"HTTP/1.1 200")


def _answer(connection: socket.socket) -> bytes:
    answer = b""
    while not answer.endswith(b"hello"):
        answer += connection.recv(4096)
    return answer
