"""The dashboard as its users start it: a process of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).parents[2]
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
        command = [sys.executable, "dashboard.py"]
        self._process = subprocess.Popen(
            [*command, "--data", str(self._data_dir), "--port", str(self._port)],
            cwd=PROJECT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "POOR_BENCH_TOKEN": token},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.address = _address_told_by(self._process)

    def kill(self) -> None:
        """Kill it as the system does: it cannot say goodbye."""
        self._process.kill()
        self._process.communicate()

    def end(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.communicate()


@contextmanager
def restartable(data_dir: Path) -> Iterator[Server]:
    """Yield a running dashboard over a workspace; it ends with the block."""
    with _held_port() as port:
        server = Server(data_dir, port)
        try:
            yield server
        finally:
            server.end()


def _address_told_by(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        found = re.search(r"(http://\S+)/\?token=", line)
        if found is not None:
            return found[1]
    raise AssertionError(f"the dashboard did not start: {''.join(said)}")


@contextmanager
def _held_port() -> Iterator[int]:
    """Yield a port that the system gives to nobody else, and on which the server can listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port
