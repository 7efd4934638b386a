"""Web sites of an imaginary internet: names, addresses, and what is served there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

from poor_bench.evaluation.browser.addresses import Address
from poor_bench.evaluation.browser.proxy import SystemNetwork

PUBLIC = "93.184.215.14"


@dataclass
class Site:
    """Pages of one server on a loopback port, and what was asked of it."""

    port: int
    pages: dict[str, str | Answer]
    asked: list[str] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def note(self, path: str) -> None:
        with self.news:
            self.asked.append(path)
            self.news.notify_all()

    def wait_until_asked(self, path: str) -> None:
        with self.news:
            assert self.news.wait_for(lambda: path in self.asked, timeout=30)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Answer:
    """An answer that is not just a page."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after: str = ""
    """Another path of the site, which must be asked for first."""


@contextmanager
def served(pages: Mapping[str, str | Answer]) -> Iterator[Site]:
    """Serve pages by their paths, without queries; others are not found."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    site = Site(server.server_address[1], dict(pages))
    server.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def parse_request(self) -> bool:
        if super().parse_request():
            self._answer()
        return False

    def _answer(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        site.note(self.path)
        found = site.pages.get(self.path.partition("?")[0], Answer("not found", 404))
        answer = Answer(found) if isinstance(found, str) else found
        if answer.after:
            site.wait_until_asked(answer.after)
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Say nothing."""


class FakeInternet:
    """Resolves the names it knows, and leads public addresses to sites on loopback ports."""

    def __init__(self, names: Mapping[str, str | list[str]], sites: Mapping[str, int]) -> None:
        """Know names and sites.

        Args:
            names: Address of each name; of a list, the next one each time it is asked for.
            sites: Loopback port of each public address.
        """
        self._names = {name: [a] if isinstance(a, str) else list(a) for name, a in names.items()}
        self._sites = sites
        self.dialled: list[str] = []

    def resolve(self, host: str) -> list[Address]:
        if host not in self._names:
            return SystemNetwork().resolve(host)
        answers = self._names[host]
        return [ip_address(answers.pop(0) if len(answers) > 1 else answers[0])]

    def dial(self, address: Address, port: int) -> socket.socket:
        self.dialled.append(str(address))
        port = self._sites.get(str(address), port)
        return socket.create_connection(("127.0.0.1", port), timeout=5)
