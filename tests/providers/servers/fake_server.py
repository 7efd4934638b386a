"""A real HTTP server on a loopback port that answers what a test tells it to."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw) if self.raw else {}


@dataclass(frozen=True)
class Answer:
    """What the server sends back.

    With `pieces` the body is chunked, one chunk a piece; `ending` says what happens afterwards:
    `end` closes the body properly, `cut` drops the connection, `hang` sends nothing more,
    `drip` goes on with single bytes; `silent` sends nothing at all.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: Sequence[bytes] | None = None
    ending: str = "end"
    content_type: str = "application/json"


Respond = Callable[[Request], Answer]


class FakeServer:
    """Records what it is asked; `respond` decides on the answers."""

    def __init__(self, respond: Respond, tls: ssl.SSLContext | None = None) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        self.connections = 0
        self.reached = threading.Event()
        self.released = threading.Event()
        self._http = _Server(self)
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def serving(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    server = FakeServer(respond, tls)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def in_turn(*answers: Answer) -> Respond:
    """Give one answer after the other; the last one stays."""
    left = list(answers)

    def respond(request: Request) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    return respond


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status=status, headers=named, body=json.dumps(value).encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each body waits 40 ms for the receipt of its headers

    def setup(self) -> None:
        super().setup()
        self._fake.connections += 1

    @property
    def _fake(self) -> FakeServer:
        assert isinstance(self.server, _Server)
        return self.server.fake

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, raw)
        self._fake.requests.append(request)
        answer = self._fake.respond(request)
        try:
            self._send(answer)
        except OSError:
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        if answer.ending == "silent":
            self._stay(answer)
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        if answer.pieces is None:
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in answer.pieces:
            self._chunk(piece)
        if answer.ending == "end":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._stay(answer)

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def _stay(self, answer: Answer) -> None:
        self.close_connection = True
        if answer.ending == "cut":
            return
        self._fake.reached.set()
        while not self._fake.released.wait(0.01):
            if answer.ending == "drip":
                self._chunk(b" ")

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
