"""A dashboard in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO

from poor_bench.cli.main import main
from tests import forked

TOKEN = "a-token-for-journeys"


@contextmanager
def served(data_dir: Path) -> Iterator[str]:
    """Yield the address of a dashboard over a workspace; it ends with the block."""
    with restartable(data_dir) as server:
        yield server.address


class Server:
    """A dashboard that can be killed and started again on the same port."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self._data_dir, self._port = data_dir, port
        self.start(TOKEN)

    def start(self, token: str) -> None:
        """Start it with the token of its link."""
        arguments = ["dashboard", "--data", str(self._data_dir), "--port", str(self._port)]
        told, telling = multiprocessing.Pipe(duplex=False)
        with told, telling:
            self._process = forked.start(_serve, arguments, token, telling)
            self._output = os.fdopen(os.dup(told.fileno()), encoding="utf-8")
        self.address = _address_told_by(self._output)

    def kill(self) -> None:
        """Kill it as the system does: it cannot say goodbye."""
        self._process.kill()
        self._forget()

    def end(self) -> None:
        """End it."""
        self._process.terminate()
        self._forget()

    def _forget(self) -> None:
        self._process.join()
        self._process.close()
        self._output.close()


@contextmanager
def restartable(data_dir: Path) -> Iterator[Server]:
    """Yield a running dashboard over a workspace; it ends with the block."""
    with hold_port() as port:
        server = Server(data_dir, port)
        try:
            yield server
        finally:
            server.end()


def _serve(arguments: list[str], token: str, telling: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a script
    os.environ["POOR_BENCH_TOKEN"] = token
    for descriptor in (1, 2):
        os.dup2(telling.fileno(), descriptor)
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main(arguments))


def _address_told_by(output: TextIO) -> str:
    said = []
    for line in output:
        said.append(line)
        found = re.search(r"(http://\S+)/\?token=", line)
        if found is not None:
            return found[1]
    raise AssertionError(f"the dashboard did not start: {''.join(said)}")


@contextmanager
def hold_port() -> Iterator[int]:
    """Yield a port that the system gives to nobody else, and on which the server can listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port
