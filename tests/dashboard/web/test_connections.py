from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from flask import Flask, request

from poor_bench.dashboard.web import connections
from poor_bench.dashboard.web.access import Access, Guard
from poor_bench.dashboard.web.connections import open_server

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
    for _ in range(connections.MAX_CONNECTIONS + 50):
        served.send(b"POST / HTTP/1.1\r\nHost: ")
    assert served.status(head(5) + b"hello") == 200


def test_a_request_that_never_ends_is_dropped(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_S", 0.0)
    monkeypatch.setattr(connections, "BODY_S", 0.0)
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
    monkeypatch.setattr(connections, "HEADER_S", 0.0)
    monkeypatch.setattr(connections, "BODY_S", 0.0)
    assert _is_closed(served.send(b"POST /"))  # the loop went round meanwhile
    monkeypatch.undo()
    connection.sendall(served.addressed(head(0)))
    assert _answer(connection).startswith(b"HTTP/1.1 200")


def _answer(connection: socket.socket) -> bytes:
    answer = b""
    while not answer.endswith(b"hello"):
        answer += connection.recv(4096)
    return answer
